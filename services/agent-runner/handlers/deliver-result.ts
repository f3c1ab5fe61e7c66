import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import type { JobContext } from '../../../shared/queue/consumer.ts'
import type { Deps } from '../deps.ts'
import { addWake } from './wake-run.ts'

/** Puts the result of a call's work into the run's inbox, once, and then wakes the run. */
export async function deliverResult(
  deps: Pick<Deps, 'journal' | 'producer'>,
  { run_id, call_id }: Payload<'tool-results', 'deliver'>,
  context: JobContext,
): Promise<Result<'tool-results', 'deliver'>> {
  const [outcome] = await context.children()
  await deps.journal.deliver(
    run_id,
    call_id,
    outcome ?? { ok: false, error: 'the job left no result' },
  )
  crashPoint('agent.result-delivered')
  await addWake(deps, run_id)
  crashPoint('agent.wake-added')
  return {}
}
