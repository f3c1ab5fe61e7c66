import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { startJobId } from '../../../shared/contracts/run.ts'
import type { JobContext } from '../../../shared/queue/consumer.ts'
import type { Deps } from '../deps.ts'
import { journalCancel } from '../run/note-cancel.ts'
import { addWake } from './wake-run.ts'

/**
 * The run ends at its next step and its tests stop where they run. One that was not begun yet is
 * begun at once, to be ended. An ended or unknown run stays as it is.
 */
export async function cancelRun(
  deps: Pick<Deps, 'journal' | 'producer'>,
  { run_id }: Payload<'runs', 'cancel'>,
  { log }: Pick<JobContext, 'log'>,
): Promise<Result<'runs', 'cancel'>> {
  const { start, end } = await deps.journal.load(run_id)
  const startJob = await deps.producer.queue('runs').getJob(startJobId(run_id))
  if (end || (!start && !startJob)) {
    log.info({ runId: run_id }, end ? 'the run had ended before' : 'there is no such run')
    return {}
  }
  await journalCancel(deps, run_id)
  await deps.journal.markCancelled(run_id)
  // While it waits, a wake would be taken for its repetition; no turn is due to a run that only ends.
  if (!start) await startJob?.changePriority({ priority: 0, lifo: true })
  await addWake(deps, run_id)
  return {}
}
