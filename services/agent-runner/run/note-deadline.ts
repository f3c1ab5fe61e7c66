import type { Deps } from '../deps.ts'
import { attemptKey, type Journal } from '../journal/journal.ts'

/**
 * Journals that a run's time is up. It counts from the first request: behind a long queue a run may
 * wait for its baseline as long as it takes, and the tests have limits of their own.
 */
export async function noteDeadline(
  deps: Pick<Deps, 'journal'>,
  runId: string,
  journal: Journal,
): Promise<void> {
  const first = journal.sent.get(attemptKey(1, 1))
  if (!journal.start || !first || journal.end || journal.deadline) return
  const seconds = journal.start.request.limits.time_seconds
  if (Date.now() < Date.parse(first.at) + seconds * 1000) return
  const entry = { at: new Date().toISOString(), message: `The limit of ${seconds} s was reached.` }
  await deps.journal.append(runId, 'deadline', entry)
  journal.deadline = entry
}
