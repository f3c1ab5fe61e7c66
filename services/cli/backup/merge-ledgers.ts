import type { Amounts, AttemptState } from '../../../shared/contracts/ledger.ts'
import {
  amountsOf,
  combine,
  isOpen,
  type LedgerAttempt,
  type LedgerRun,
  type LedgerState,
  nothing,
  sum,
} from './ledger-state.ts'

/** As long as the ledger keeps a run; what is older counts in the totals alone. */
const RECENT_MS = 90 * 24 * 3600 * 1000

/**
 * One ledger that knows all that these know. An attempt is in the latest state that any of them saw;
 * what runs of before cost, of which only totals are kept, is the most that any has. So nothing that one
 * of them has settled is ever less, neither in all nor on a day nor for a run.
 */
export function mergeLedgers(states: readonly LedgerState[], now: Date): LedgerState {
  const isRecent = recentIn(states, now.getTime() - RECENT_MS)
  const runs = mergeRuns(states, isRecent)
  const before = states.map((state) => totalsBefore(state, isRecent))
  const project = before.map((each) => each.project).reduce(most, nothing())
  const days = new Map<string, Amounts>()
  for (const [day, amounts] of before.flatMap((each) => [...each.days])) {
    days.set(day, most(days.get(day) ?? nothing(), amounts))
  }
  const merged = {
    seq: Math.max(0, ...states.map(({ seq }) => seq)),
    project,
    days,
    runs,
    outbox: new Map(states.flatMap(({ outbox }) => [...outbox])),
  }
  for (const attempt of attemptsIn(runs)) addTo(merged, attempt, 1)
  return merged
}

const most = (a: Amounts, b: Amounts) => combine(a, b, Math.max)

/** A run counts by its attempts when it is young enough that every ledger which saw it still has them. */
function recentIn(states: readonly LedgerState[], since: number): (id: string) => boolean {
  const recent = new Set<string>()
  for (const [id, run] of states.flatMap(({ runs }) => [...runs])) {
    const hasOpen = [...run.attempts.values()].some(isOpen)
    if (hasOpen || run.lastHold >= since) recent.add(id)
  }
  return (id) => recent.has(id)
}

/** The totals of a ledger without what its recent runs count for. */
function totalsBefore(
  state: LedgerState,
  isRecent: (id: string) => boolean,
): Pick<LedgerState, 'project' | 'days'> {
  const before = { project: state.project, days: new Map(state.days) }
  const recent = [...state.runs].filter(([id]) => isRecent(id))
  for (const attempt of attemptsIn(recent)) addTo(before, attempt, -1)
  return {
    project: most(before.project, nothing()),
    days: new Map([...before.days].map(([day, amounts]) => [day, most(amounts, nothing())])),
  }
}

function addTo(
  totals: Pick<LedgerState, 'project' | 'days'>,
  attempt: LedgerAttempt,
  sign: 1 | -1,
): void {
  const own = combine(amountsOf(attempt), nothing(), (amount) => sign * amount)
  totals.project = combine(totals.project, own, sum)
  totals.days.set(attempt.day, combine(totals.days.get(attempt.day) ?? nothing(), own, sum))
}

function* attemptsIn(runs: Iterable<[string, LedgerRun]>): Generator<LedgerAttempt> {
  for (const [, run] of runs) yield* run.attempts.values()
}

function mergeRuns(
  states: readonly LedgerState[],
  isRecent: (id: string) => boolean,
): Map<string, LedgerRun> {
  const merged = new Map<string, LedgerRun>()
  for (const [id, run] of states.flatMap(({ runs }) => [...runs])) {
    if (!isRecent(id)) continue
    const known = merged.get(id)
    merged.set(id, known ? mergeRun(known, run) : { ...run, attempts: new Map(run.attempts) })
  }
  return merged
}

function mergeRun(a: LedgerRun, b: LedgerRun): LedgerRun {
  const attempts = new Map(a.attempts)
  for (const [key, attempt] of b.attempts) {
    const known = attempts.get(key)
    attempts.set(key, known ? later(known, attempt) : attempt)
  }
  const [older, newer] = a.lastHold <= b.lastHold ? [a, b] : [b, a]
  return {
    lastHold: newer.lastHold,
    limit: newer.limit ?? older.limit,
    closed: newer.closed ?? older.closed,
    attempts,
  }
}

/**
 * One ledger knows `released` or `sent` after `held`, never both. Two that went apart after a restore can:
 * then it may have been paid.
 */
const rank: Record<AttemptState, number> = { held: 0, released: 1, sent: 2, settled: 3 }

/** Of two that say the same state the dearer one. */
function later(a: LedgerAttempt, b: LedgerAttempt): LedgerAttempt {
  const byState = rank[a.state] - rank[b.state]
  const byCost = a.cost_microusd - b.cost_microusd || a.hold_microusd - b.hold_microusd
  return (byState || byCost || a.at - b.at) >= 0 ? a : b
}
