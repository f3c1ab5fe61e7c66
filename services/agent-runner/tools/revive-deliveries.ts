import type { Deps } from '../deps.ts'
import { lostEvent } from '../journal/result-event.ts'
import { deliverJobId } from './jobs.ts'

/**
 * Looks after the deliveries that a run waits for: one that failed for good (Redis refused for too
 * long) is tried again, and for one that is not there any more the run is told so, instead of waiting
 * for its deadline. True when the inbox has something new by that.
 */
export async function reviveDeliveries(
  deps: Pick<Deps, 'journal' | 'producer'>,
  runId: string,
  keys: readonly string[],
): Promise<boolean> {
  const queue = deps.producer.queue('tool-results')
  let delivered = false
  for (const key of keys) {
    const job = await queue.getJob(deliverJobId(runId, key))
    if (!job) {
      const error = 'the job was lost'
      await deps.journal.deliver(runId, key, { ok: false, error }, lostEvent(key, error))
      delivered = true
    } else if (await job.isFailed()) {
      await job.retry('failed')
    }
  }
  return delivered
}
