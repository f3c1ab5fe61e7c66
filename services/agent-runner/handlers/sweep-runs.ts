import type { Result } from '../../../shared/contracts/catalog.ts'
import type { Deps } from '../deps.ts'
import { addWake } from './wake-run.ts'

/** How often unfinished runs are looked at. */
export const SWEEP_EVERY_MS = 5_000

/**
 * Wakes the unfinished runs that have no wake: one may have been lost between a delivery and its
 * wake, and a run that only waits would not see its deadline pass. Closes what ended runs left open
 * in the ledgers.
 */
export async function sweepRuns(
  deps: Pick<Deps, 'journal' | 'producer' | 'reconcile'>,
): Promise<Result<'runs', 'sweep'>> {
  for (const runId of await deps.journal.unfinished()) {
    if (!(await isWakePending(deps, runId))) await addWake(deps, runId)
  }
  await deps.reconcile()
  return {}
}

/** A deduplication id whose job is gone or over would keep every further wake away. */
async function isWakePending(
  { producer }: Pick<Deps, 'producer'>,
  runId: string,
): Promise<boolean> {
  const queue = producer.queue('runs')
  const id = await queue.getDeduplicationJobId(runId)
  if (!id) return false
  const state = await queue.getJobState(id)
  if (state !== 'unknown' && state !== 'completed' && state !== 'failed') return true
  // Another wake may have come meanwhile; two at once are fenced by the journal.
  await queue.removeDeduplicationKey(runId)
  return false
}
