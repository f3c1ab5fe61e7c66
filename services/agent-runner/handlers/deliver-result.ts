import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import { errorText } from '../../../shared/errors.ts'
import type { ChildOutcome, JobContext } from '../../../shared/queue/consumer.ts'
import { runFiles } from '../../../shared/run-files.ts'
import type { Deps } from '../deps.ts'
import { markStale } from '../files/stale-matches.ts'
import { resultEvent } from '../journal/result-event.ts'
import { addWake } from './wake-run.ts'

/** Puts the result of a call's work into the run's inbox, once, and then wakes the run. */
export async function deliverResult(
  deps: Pick<Deps, 'blobs' | 'config' | 'journal' | 'producer'>,
  { run_id, call_id, work }: Payload<'tool-results', 'deliver'>,
  context: JobContext,
): Promise<Result<'tool-results', 'deliver'>> {
  const [outcome] = await context.children()
  const result = outcome?.ok ? await marked(deps, run_id, outcome.value, context) : outcome
  const entry = result ?? { ok: false, error: 'the job left no result' }
  const event = work && (resultEvent(work, call_id, entry) ?? undefined)
  await deps.journal.deliver(run_id, call_id, entry, event)
  crashPoint('agent.result-delivered')
  await addWake(deps, run_id)
  crashPoint('agent.wake-added')
  return {}
}

/** Matches are marked here, where the run's files are; a mark that cannot be made holds nothing up. */
async function marked(
  { config, blobs }: Pick<Deps, 'blobs' | 'config'>,
  runId: string,
  value: unknown,
  { log }: Pick<JobContext, 'log'>,
): Promise<ChildOutcome> {
  try {
    return { ok: true, value: await markStale(runFiles(config.home, runId, blobs), value) }
  } catch (error) {
    log.warn(
      { runId, error: errorText(error) },
      'recalled records were not compared with the files',
    )
    return { ok: true, value }
  }
}
