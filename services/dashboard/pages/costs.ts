import type { Context } from 'hono'
import { html } from 'hono/html'
import { lastDays } from '../../../shared/contracts/ledger.ts'
import { readCosts } from '../../../shared/read-costs.ts'
import { readRunTopics } from '../costs/run-topics.ts'
import { namedRuns, scopeSection } from '../costs/scope-section.ts'
import type { Deps } from '../deps.ts'
import { page } from '../layout.ts'

const DAYS = 30

/** GET /costs: what was spent by day, model and run, and what is left of each budget. */
export const costsPage = (deps: Deps) => async (c: Context) => {
  const now = deps.now()
  const { live, notional } = await readCosts(deps.redis, deps.config, {
    days: DAYS,
    run: null,
    now,
  })
  const days = lastDays(now, DAYS)
  const runBudget = Math.floor(deps.config.ASTRA_RUN_BUDGET_USD * 1e6)
  const named = [live, notional].map(namedRuns).flatMap(({ newest, dearest }) => [newest, dearest])
  const ids = new Set(named.flat().map(({ run_id }) => run_id))
  const topics = await readRunTopics(deps.redis, [...ids])
  const body = html`<h1>Costs</h1>
<p class="note">Settled is what requests cost; sent is held for requests whose end is not known yet; held for those that are about to leave. All three count against a budget.</p>
${scopeSection('live', live, days, { runBudget, topics })}
${scopeSection('notional', notional, days, { runBudget: null, topics })}`
  return page(c, { title: 'Costs', section: 'costs', body })
}
