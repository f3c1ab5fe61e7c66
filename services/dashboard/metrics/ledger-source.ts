import type { Registry } from 'prom-client'
import {
  type Amounts,
  dayOf,
  ledgerScopes,
  readDayAmounts,
  readProjectAmounts,
} from '../../../shared/contracts/ledger.ts'
import { gauge, type MetricsDeps, type Sample, type Source } from './source.ts'

type Labels = 'scope' | 'period' | 'state'
const states = ['held', 'sent', 'settled'] as const

export function ledgerSource(registry: Registry, { redis, config, now }: MetricsDeps): Source {
  const setAmounts = gauge(registry, {
    name: 'astra_ledger_dollars',
    help: 'What is held for requests, under way and spent: of this UTC day, and of all time. Notional dollars are paid by nobody.',
    labelNames: ['scope', 'period', 'state'],
  })
  const setBudgets = gauge(registry, {
    name: 'astra_budget_dollars',
    help: 'What the live ledger may reach, all states together.',
    labelNames: ['period'],
  })
  return {
    name: 'ledger',
    async refresh() {
      const day = dayOf(now())
      const scopes = await Promise.all(
        ledgerScopes.map(async (scope) => {
          const [[today], project] = await Promise.all([
            readDayAmounts(redis, scope, [day]),
            readProjectAmounts(redis, scope),
          ])
          if (!today) throw new Error(`the ledger told nothing of ${day}`)
          return [
            ...samplesOf({ scope, period: 'day' }, today),
            ...samplesOf({ scope, period: 'project' }, project),
          ]
        }),
      )
      setAmounts(scopes.flat())
      setBudgets([
        [{ period: 'day' }, config.ASTRA_DAY_BUDGET_USD],
        [{ period: 'project' }, config.ASTRA_PROJECT_BUDGET_USD],
      ])
    },
  }
}

function samplesOf(labels: { scope: string; period: string }, amounts: Amounts): Sample<Labels>[] {
  return states.map((state) => [{ ...labels, state }, amounts[state] / 1e6])
}
