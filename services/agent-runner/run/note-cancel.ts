import type { Deps } from '../deps.ts'
import type { Journal } from '../journal/journal.ts'

/**
 * Journals a cancel that the run's mark tells of. The mark is read after the journal: tests that were
 * stopped for it can be in the inbox before anybody has journalled why.
 */
export async function noteCancel(
  deps: Pick<Deps, 'journal'>,
  runId: string,
  journal: Journal,
): Promise<void> {
  if (!journal.start || journal.end || journal.cancel) return
  if (await deps.journal.isCancelled(runId)) journal.cancel = await journalCancel(deps, runId)
}

export async function journalCancel(deps: Pick<Deps, 'journal'>, runId: string) {
  const entry = { at: new Date().toISOString(), message: 'Cancelled on request.' }
  await deps.journal.append(runId, 'cancel', entry, { type: 'note', text: 'cancel requested' })
  return entry
}
