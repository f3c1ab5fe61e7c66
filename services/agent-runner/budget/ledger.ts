import type { Redis } from 'ioredis'
import {
  ATTEMPT_KEY,
  type AttemptState,
  attemptsOf,
  dayOf,
  evidenceLineSchema,
  type LedgerScope,
  lastDays,
  ledgerKeys,
} from '../../../shared/contracts/ledger.ts'
import type { Logger } from '../../../shared/logger.ts'
import type { Evidence } from './evidence.ts'
import { LEDGER_SCRIPT } from './ledger-script.ts'

/** How long a closed run's attempts and a day's totals are kept. The evidence files stay. */
const KEEP_RUN_DAYS = 90
const KEEP_DAYS = 400

const DAY_MS = 24 * 3600 * 1000
/** Nobody needs this much, and the sum of many is still exact. */
const MAX_AMOUNT = 1e12
/** A line of evidence has room for this much of a model's name. */
const MAX_MODEL_NAME = 200
/** Who has not written its line by now has died, or writes it twice, which does no harm. */
const EVIDENCE_LATE_MS = 30_000

/** What holds may reach in all, in integer micro-dollars. */
export type Limits = { project: number; day: number; run: number }

export type HoldResult =
  | { granted: true }
  /** A limit has no room for it. */
  | { granted: false; limit: keyof Limits; leftMicrousd: number }
  /** The attempt was sent or ended before, or its run is closed: it must not be sent (again). */
  | { granted: false; limit: null; state: Exclude<AttemptState, 'held'> | 'closed' }

/** `released` and `unknown`: nothing was booked, because nothing was held for this attempt. */
export type SettleResult = 'settled' | 'settled_before' | 'released' | 'unknown'

/**
 * The money of one scope. `attempt` is `REQUEST.ATTEMPT` of the run; amounts are integer
 * micro-dollars. All of it is safe to repeat and to do from several processes at once. It throws
 * when Redis does not answer: then nothing may be sent.
 */
export type Ledger = {
  /** Reserves the most that an attempt can cost. Granted once, however often it is asked. */
  hold(runId: string, attempt: string, amount: number, limits: Limits): Promise<HoldResult>
  /** To be called right before the request leaves, and only on `true` may it leave. */
  sent(runId: string, attempt: string): Promise<boolean>
  /** Books what an attempt cost and gives back the rest of its hold. Only the first one counts. */
  settle(runId: string, attempt: string, amount: number): Promise<SettleResult>
  /**
   * The run has ended: settles what its journal knows, releases what was held and never sent, and
   * charges in full what was sent and has no end. Nothing can be held for the run afterwards.
   */
  closeRun(runId: string, costs: ReadonlyMap<string, number>): Promise<void>
  /** The runs that have an attempt open whose last transition is older than `olderThanMs`. */
  openRuns(olderThanMs: number): Promise<string[]>
  /** Writes the evidence of transitions whose process died before it did. */
  recoverEvidence(): Promise<void>
}

/** Both scopes; a run's is `live` or `notional` by its mode. */
export type Ledgers = Record<LedgerScope, Ledger>

type Settings = {
  scope: LedgerScope
  /** Whom the holds pay, for `astra cost`. */
  model: string
  evidence: Evidence
  log: Logger
  /** Decides the UTC day that a hold is charged to. */
  now: () => Date
}

type Verb = 'hold' | 'sent' | 'settle' | 'release'
type Reply =
  | ['made', seq: number, line: string, hold: number]
  | ['same']
  | ['limit', name: keyof Limits, left: number]
  | ['no', state: AttemptState | 'closed' | 'unknown']

/** `redis` should fail within seconds when Redis is away (`connectOrFail`), not wait for it. */
export function createLedger(redis: Redis, settings: Settings): Ledger {
  const { scope, evidence, log, now } = settings
  const keys = ledgerKeys(scope)
  const model = settings.model.slice(0, MAX_MODEL_NAME)

  async function transition(
    verb: Verb,
    runId: string,
    attempt: string,
    amount = 0,
    ...more: (string | number)[]
  ): Promise<Reply> {
    requireAttempt(attempt)
    const at = now()
    const scriptKeys = [keys.project, keys.days, keys.run(runId), keys.open, keys.runs, keys.outbox]
    const args = [verb, runId, attempt, at.toISOString(), at.getTime(), amount, scope, ...more]
    const count = scriptKeys.length
    const reply = (await redis.eval(LEDGER_SCRIPT, count, ...scriptKeys, ...args)) as Reply
    if (reply[0] === 'made') await write(dayOf(at), reply[1], reply[2])
    return reply
  }

  /** The transition is made, whatever happens here; its line waits in the outbox until it is written. */
  async function write(day: string, seq: number | string, line: string): Promise<void> {
    try {
      await evidence.append(day, line)
      await redis.hdel(keys.outbox, String(seq))
    } catch (error) {
      log.error({ err: error, scope, seq }, 'ledger evidence is not written yet')
    }
  }

  async function settle(runId: string, attempt: string, amount: number): Promise<SettleResult> {
    requireAmount('the amount', amount)
    const reply = await transition('settle', runId, attempt, amount)
    if (reply[0] === 'same') return 'settled_before'
    if (reply[0] === 'made') {
      const hold = reply[3]
      if (amount > hold) log.warn({ runId, attempt, hold, amount }, 'cost more than was held')
      return 'settled'
    }
    const state = reply[1] === 'released' ? 'released' : 'unknown'
    log.error({ runId, attempt, amount, state }, 'nothing is held for what should be settled')
    return state
  }

  async function openAttempts(runId: string) {
    const attempts = attemptsOf(await redis.hgetall(keys.run(runId)))
    return attempts.filter(({ state }) => state === 'held' || state === 'sent')
  }

  return {
    async hold(runId, attempt, amount, limits) {
      requireAmount('the amount', amount)
      const { project, day, run } = limits
      for (const [name, limit] of Object.entries({ project, day, run })) requireLimit(name, limit)
      const oldest = lastDays(now(), KEEP_DAYS).at(-1) ?? ''
      const more = [model, project, day, run, oldest]
      const reply = await transition('hold', runId, attempt, amount, ...more)
      if (reply[0] === 'limit') return { granted: false, limit: reply[1], leftMicrousd: reply[2] }
      if (reply[0] !== 'no') return { granted: true }
      return { granted: false, limit: null, state: refusingState(reply[1]) }
    },

    async sent(runId, attempt) {
      const [verdict] = await transition('sent', runId, attempt)
      return verdict === 'made'
    },

    settle,

    async closeRun(runId, costs) {
      const at = now()
      // From here on nothing is held or sent for the run, so that what is open can only get less.
      await redis.hset(keys.run(runId), 'closed', at.toISOString())
      for (const [attempt, cost] of costs) await settle(runId, attempt, cost)
      for (const { attempt, state, hold_microusd } of await openAttempts(runId)) {
        if (state === 'held') await transition('release', runId, attempt)
        else await settle(runId, attempt, hold_microusd)
      }
      await redis
        .multi()
        .expire(keys.run(runId), (KEEP_RUN_DAYS * DAY_MS) / 1000)
        .zremrangebyscore(keys.runs, '-inf', at.getTime() - KEEP_RUN_DAYS * DAY_MS)
        .exec()
    },

    async openRuns(olderThanMs) {
      const before = now().getTime() - olderThanMs
      const members = await redis.zrangebyscore(keys.open, '-inf', before)
      return [...new Set(members.map((member) => member.split(' ')[0] ?? ''))]
    },

    async recoverEvidence() {
      const late = now().getTime() - EVIDENCE_LATE_MS
      for (const [seq, text] of Object.entries(await redis.hgetall(keys.outbox))) {
        const line = evidenceLineSchema.parse(JSON.parse(text))
        if (Date.parse(line.at) > late) continue
        log.warn({ scope, seq, runId: line.run }, 'ledger evidence recovered')
        await write(line.at.slice(0, 10), seq, JSON.stringify({ ...line, recovered: true }))
      }
    },
  }
}

function refusingState(state: AttemptState | 'closed' | 'unknown') {
  if (state === 'held' || state === 'unknown') throw new Error(`a hold was refused as ${state}`)
  return state
}

function requireAttempt(attempt: string): void {
  if (!ATTEMPT_KEY.test(attempt)) {
    throw new RangeError(`an attempt is named REQUEST.ATTEMPT, not "${attempt}"`)
  }
}

function requireAmount(name: string, amount: number): void {
  if (Number.isSafeInteger(amount) && amount >= 0 && amount <= MAX_AMOUNT) return
  throw new RangeError(`${name} must be whole micro-dollars from 0 to ${MAX_AMOUNT}, not ${amount}`)
}

/** A limit that is not known is none that may be spent up to. */
function requireLimit(name: string, limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 0) return
  throw new RangeError(`the ${name} limit must be whole micro-dollars, not ${limit}`)
}
