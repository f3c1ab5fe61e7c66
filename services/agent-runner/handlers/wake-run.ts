import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { runDeduplication } from '../../../shared/contracts/run.ts'
import { errorText } from '../../../shared/errors.ts'
import type { JobContext } from '../../../shared/queue/consumer.ts'
import { isRedisFault } from '../../../shared/queue/redis-fault.ts'
import type { Deps } from '../deps.ts'
import { advanceRun } from '../run/advance-run.ts'
import { journalEnd } from '../run/journal-end.ts'

/** Something may have arrived for a run: go on with it as far as that goes. */
export async function wakeRun(
  deps: Deps,
  { run_id }: Payload<'runs', 'wake'>,
  context: JobContext,
): Promise<Result<'runs', 'wake'>> {
  return goOn(deps, run_id, context)
}

/**
 * A fault is retried by the queue; the last try ends the run instead, so that one that cannot go on
 * does not return for ever.
 */
export async function goOn(
  deps: Deps,
  runId: string,
  context: JobContext,
): Promise<Record<string, never>> {
  const { log } = context
  try {
    await advanceRun(deps, runId, { signal: context.signal, log })
  } catch (error) {
    // Redis being full or away is no end of a run: the sweeper wakes it when that is over.
    if (context.signal.aborted || !context.lastAttempt || isRedisFault(error)) throw error
    log.error({ err: error }, 'the run cannot go on')
    const message = `internal error: ${errorText(error)}`
    const end = { status: 'failed', reason: 'internal_error', message, final_text: null } as const
    await journalEnd(deps, runId, end, message)
    await advanceRun(deps, runId, { signal: context.signal, log })
  }
  return {}
}

/** Adds a wake unless one is waiting; one that is active is followed by another. */
export async function addWake(deps: Pick<Deps, 'producer'>, runId: string): Promise<void> {
  await deps.producer.add(
    'runs',
    'wake',
    { run_id: runId },
    { deduplication: runDeduplication(runId) },
  )
}
