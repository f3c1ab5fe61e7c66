import type { Redis } from 'ioredis'
import { z } from 'zod'
import { KEY_PREFIX } from '../queue/connection.ts'

/** `live`: money that is really spent. `notional`: what the stand-in's tokens would have cost. */
export const ledgerScopes = ['live', 'notional'] as const
export type LedgerScope = (typeof ledgerScopes)[number]

/** Where one scope is kept. The agent-runner alone writes; see its `budget/ledger-script.ts`. */
export function ledgerKeys(scope: LedgerScope) {
  const base = `${KEY_PREFIX}:ledger:${scope}`
  return {
    /** Hash: held, sent, settled of the project, and the number of the last transition (seq). */
    project: base,
    /** Hash: `DAY held`, `DAY sent`, `DAY settled` for each UTC day. */
    days: `${base}:days`,
    /** Sorted set: `RUN ATTEMPT` of every attempt that is held or sent, by its last transition. */
    open: `${base}:open`,
    /** Sorted set: the runs, by their last hold. */
    runs: `${base}:runs`,
    /** Hash: evidence lines by seq that are not known to be on the disk yet. */
    outbox: `${base}:outbox`,
    /** Hash: held, sent, settled, limit and closed of a run, and its attempts by `REQUEST.ATTEMPT`. */
    run: (runId: string) => `${base}:run:${runId}`,
  }
}

export const attemptStateSchema = z.enum(['held', 'sent', 'settled', 'released'])
export type AttemptState = z.infer<typeof attemptStateSchema>

const microusd = z.number().int().nonnegative()

/** Integer micro-dollars. What counts against a limit is the sum of all three. */
export const amountsSchema = z.strictObject({ held: microusd, sent: microusd, settled: microusd })
export type Amounts = z.infer<typeof amountsSchema>

/** One attempt of one request. `day` is the UTC day of its hold, the one that it is charged to. */
export type Attempt = {
  attempt: string
  state: AttemptState
  hold_microusd: number
  /** 0 unless settled. */
  cost_microusd: number
  day: string
  model: string
}

/**
 * One line of `ASTRA_HOME/ledger/DAY.jsonl`: a transition and the totals right after it. `seq` counts
 * the transitions of its scope without gaps, so a missing line shows. A line may be there twice
 * (written, but its writer died before it could say so): the same seq is the same transition.
 */
export const evidenceLineSchema = z.strictObject({
  seq: z.number().int().positive(),
  at: z.iso.datetime(),
  scope: z.enum(ledgerScopes),
  run: z.string(),
  attempt: z.string(),
  state: attemptStateSchema,
  hold_microusd: microusd,
  cost_microusd: microusd,
  day: z.iso.date(),
  model: z.string(),
  totals: z.strictObject({ project: amountsSchema, day: amountsSchema, run: amountsSchema }),
  /** The process that made the transition died before it wrote this; another one did, later. */
  recovered: z.literal(true).optional(),
})
export type EvidenceLine = z.infer<typeof evidenceLineSchema>

export type RunCosts = Amounts & {
  run_id: string
  /** The run's own budget as it was at its last hold; null when it is not known. */
  limit_microusd: number | null
  /** No further attempt can be held. */
  closed: boolean
  attempts: Attempt[]
}

/** The UTC day of a moment, as the ledger names it. */
export const dayOf = (moment: Date) => moment.toISOString().slice(0, 10)

/** The last `count` UTC days, newest first. */
export function lastDays(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, back) => dayOf(new Date(now.getTime() - back * DAY_MS)))
}
const DAY_MS = 24 * 3600 * 1000

export async function readProjectAmounts(redis: Redis, scope: LedgerScope): Promise<Amounts> {
  return amountsOf(await redis.hmget(ledgerKeys(scope).project, 'held', 'sent', 'settled'))
}

/** In the order of `days`; a day without any attempt has zeros. */
export async function readDayAmounts(
  redis: Redis,
  scope: LedgerScope,
  days: string[],
): Promise<Amounts[]> {
  const fields = days.flatMap((day) => [`${day} held`, `${day} sent`, `${day} settled`])
  if (fields.length === 0) return []
  const values = await redis.hmget(ledgerKeys(scope).days, ...fields)
  return days.map((_, i) => amountsOf(values.slice(i * 3, i * 3 + 3)))
}

/** What a run has cost, or null when the ledger does not know it (any more). */
export async function readRunCosts(
  redis: Redis,
  scope: LedgerScope,
  runId: string,
): Promise<RunCosts | null> {
  const fields = await redis.hgetall(ledgerKeys(scope).run(runId))
  const attempts = attemptsOf(fields)
  if (attempts.length === 0) return null
  return {
    run_id: runId,
    ...amountsOf([fields.held, fields.sent, fields.settled]),
    limit_microusd: fields.limit === undefined ? null : Number(fields.limit),
    closed: fields.closed !== undefined,
    attempts,
  }
}

/** How many runs are asked for at once. */
const RUNS_AT_ONCE = 200

/** The runs that held something since the beginning of the UTC day `since`, newest first. */
export async function listRunCosts(
  redis: Redis,
  scope: LedgerScope,
  since: string,
): Promise<RunCosts[]> {
  const from = Date.parse(`${since}T00:00:00.000Z`)
  const ids = await redis.zrevrangebyscore(ledgerKeys(scope).runs, '+inf', from)
  const runs: (RunCosts | null)[] = []
  for (let i = 0; i < ids.length; i += RUNS_AT_ONCE) {
    const some = ids.slice(i, i + RUNS_AT_ONCE)
    runs.push(...(await Promise.all(some.map((id) => readRunCosts(redis, scope, id)))))
  }
  return runs.filter((run) => run !== null)
}

/** The attempts in the fields of a run's hash, in the order in which they were made. */
export function attemptsOf(fields: Record<string, string>): Attempt[] {
  return Object.entries(fields)
    .filter(([field]) => ATTEMPT_KEY.test(field))
    .map(([field, text]) => attemptOf(field, text))
    .sort((a, b) => orderOf(a.attempt) - orderOf(b.attempt))
}

/** `REQUEST.ATTEMPT`, as the journal names them. */
export const ATTEMPT_KEY = /^\d+\.\d+$/

function attemptOf(attempt: string, text: string): Attempt {
  const match = /^([a-z]+) (\d+) (\d+) (\S+) (.*)$/.exec(text)
  if (!match) throw new Error(`the ledger has an attempt that cannot be read: ${attempt} ${text}`)
  const [, state, hold, cost, day = '', model = ''] = match
  return {
    attempt,
    state: attemptStateSchema.parse(state),
    hold_microusd: Number(hold),
    cost_microusd: Number(cost),
    day,
    model,
  }
}

function orderOf(attempt: string): number {
  const [request = 0, nth = 0] = attempt.split('.').map(Number)
  return request * 1e6 + nth
}

function amountsOf(values: (string | null | undefined)[]): Amounts {
  const [held = 0, sent = 0, settled = 0] = values.map((value) => Number(value ?? 0))
  return { held, sent, settled }
}
