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
    const pending = await deps.producer.queue('runs').getDeduplicationJobId(runId)
    if (!pending) await addWake(deps, runId)
  }
  await deps.reconcile()
  return {}
}
