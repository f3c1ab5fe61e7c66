import { attemptKey, type Journal } from '../../services/agent-runner/journal/journal.ts'
import type { Injected, Victim } from './faults.ts'
import type { Reference } from './observed.ts'

/** Whose faults can cost an answer that was under way. */
const breakers: ReadonlySet<Victim> = new Set([
  'agent-runner',
  'offline-model',
  'redis',
  'supervisor',
])

/** Attempts that nothing explains, and answers that say something other than a healthy run says. */
export function requestProblems(journal: Journal, injected: readonly Injected[]): string[] {
  const lost = lostAttempts(journal).filter(
    ({ from, to }) => !injected.some((fault) => hits(fault, from, to)),
  )
  const refused = [...journal.outputs].filter(([, { output }]) => output.startsWith('{"error"'))
  const reminders = [...journal.sent].filter(([, sent]) => sent.reminder)
  return [
    ...lost.map(({ key }) => `attempt ${key} was lost and nothing was killed`),
    ...refused.map(([key, { output }]) => `${key} was refused: ${output}`),
    ...reminders.map(([key]) => `attempt ${key} had to remind the model`),
  ]
}

/** An answered request that the reference did without. */
export function surplusRequests(journal: Journal, reference: Reference | undefined): string[] {
  const needed = neededRequests(journal)
  if (!reference || needed <= reference.requests) return []
  return [`${needed} answered requests, the reference needed ${reference.requests}`]
}

/** A worker renews its lock of 10 s every 5 s: Redis has to be away for longer than that to cost it. */
const LOCK_MAY_EXPIRE_MS = 5_000
/** A worker hears of a lost lock at the next look for stalled jobs, every 5 s. */
const TOLD_LATE_MS = 7_000

/** What a worker sends between a long fault of Redis and hearing of its lost lock may be lost, too. */
function hits({ victim, at, until }: Injected, from: number, to: number): boolean {
  const isLong = victim === 'redis' && until - at > LOCK_MAY_EXPIRE_MS
  return breakers.has(victim) && at <= to && until + (isLong ? TOLD_LATE_MS : 0) >= from
}

/** Answered requests, without those that only wait: whether a wait is needed is a matter of time. */
export function neededRequests(journal: Journal): number {
  const onlyWaits = (calls: { name: string }[]) =>
    calls.length > 0 && calls.every((call) => call.name === 'wait_for_tasks')
  return [...journal.responses.values()].filter(({ calls }) => !onlyWaits(calls)).length
}

/** Attempts without an answer, with the time in which that must have happened. */
export function lostAttempts(journal: Journal): { key: string; from: number; to: number }[] {
  return [...journal.sent].flatMap(([key, sent]) => {
    const [request = '', attempt = ''] = key.split('.')
    if (journal.responses.get(request)?.attempt === Number(attempt)) return []
    const next = journal.sent.get(attemptKey(Number(request), Number(attempt) + 1))
    const to = next?.at ?? journal.end?.at
    return [{ key, from: Date.parse(sent.at), to: to ? Date.parse(to) : Number.POSITIVE_INFINITY }]
  })
}
