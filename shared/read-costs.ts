import type { Redis } from 'ioredis'
import type { Config } from './config.ts'
import {
  type Amounts,
  type LedgerScope,
  lastDays,
  listRunCosts,
  type RunCosts,
  readDayAmounts,
  readProjectAmounts,
  readRunCosts,
} from './contracts/ledger.ts'

/** Integer micro-dollars, as the ledger has them. */
type Booked = { held_microusd: number; sent_microusd: number; settled_microusd: number }

/** Null where nothing limits: nobody pays what is notional. */
export type Budget = Booked & { limit_microusd: number | null; left_microusd: number | null }

export type ModelCosts = Booked & { model: string; attempts: number }

export type ScopeCosts = {
  project: Budget
  today: Budget & { day: string }
  /** Newest first; only days with an attempt. */
  days: (Booked & { day: string })[]
  models: ModelCosts[]
  runs: (Budget & { run_id: string; attempts: RunCosts['attempts'] })[]
}

export type Costs = Record<LedgerScope, ScopeCosts>

type Question = { days: number; run: string | null; now: Date }

/**
 * What was spent in the last UTC days, today included. With `run` only that run, whenever it was.
 * Budgets are this configuration's; a run's is the one that it was given.
 */
export async function readCosts(redis: Redis, config: Config, question: Question): Promise<Costs> {
  const limits = {
    project: Math.floor(config.ASTRA_PROJECT_BUDGET_USD * 1e6),
    day: Math.floor(config.ASTRA_DAY_BUDGET_USD * 1e6),
  }
  return {
    live: await readScope(redis, 'live', question, limits),
    notional: await readScope(redis, 'notional', question, { project: null, day: null }),
  }
}

async function readScope(
  redis: Redis,
  scope: LedgerScope,
  { days: count, run, now }: Question,
  limits: { project: number | null; day: number | null },
): Promise<ScopeCosts> {
  const days = lastDays(now, count)
  const [today = ''] = days
  const amounts = await readDayAmounts(redis, scope, days)
  const runs =
    run === null
      ? await listRunCosts(redis, scope, days.at(-1) ?? today)
      : [await readRunCosts(redis, scope, run)].filter((each) => each !== null)
  const attempts = runs.flatMap((each) => each.attempts)
  return {
    project: budgetOf(await readProjectAmounts(redis, scope), limits.project),
    today: { day: today, ...budgetOf(amounts[0] ?? NOTHING, limits.day) },
    days: days
      .map((day, i) => ({ day, ...bookedOf(amounts[i] ?? NOTHING) }))
      .filter((each) => each.held_microusd + each.sent_microusd + each.settled_microusd > 0),
    models: byModel(run === null ? attempts.filter(({ day }) => days.includes(day)) : attempts),
    runs: runs.map((each) => ({
      run_id: each.run_id,
      ...budgetOf(each, scope === 'live' ? each.limit_microusd : null),
      attempts: each.attempts,
    })),
  }
}

const NOTHING: Amounts = { held: 0, sent: 0, settled: 0 }

function bookedOf({ held, sent, settled }: Amounts): Booked {
  return { held_microusd: held, sent_microusd: sent, settled_microusd: settled }
}

function budgetOf(amounts: Amounts, limit: number | null): Budget {
  const used = amounts.held + amounts.sent + amounts.settled
  const left = limit === null ? null : Math.max(0, limit - used)
  return { ...bookedOf(amounts), limit_microusd: limit, left_microusd: left }
}

function byModel(attempts: RunCosts['attempts']): ModelCosts[] {
  const models = new Map<string, ModelCosts>()
  for (const { model, state, hold_microusd, cost_microusd } of attempts) {
    const sum = models.get(model) ?? { model, attempts: 0, ...bookedOf(NOTHING) }
    sum.attempts += 1
    if (state === 'held') sum.held_microusd += hold_microusd
    if (state === 'sent') sum.sent_microusd += hold_microusd
    if (state === 'settled') sum.settled_microusd += cost_microusd
    models.set(model, sum)
  }
  return [...models.values()].sort((a, b) => b.settled_microusd - a.settled_microusd)
}
