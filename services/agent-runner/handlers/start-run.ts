import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import type { JobContext } from '../../../shared/queue/consumer.ts'
import { refusalOf } from '../budget/refusal.ts'
import type { Deps } from '../deps.ts'
import { goOn } from './wake-run.ts'

/** Begins a run. A second `start` of the same run finds it begun and only goes on. */
export async function startRun(
  deps: Deps,
  request: Payload<'runs', 'start'>,
  context: JobContext,
): Promise<Result<'runs', 'start'>> {
  const settings = deps.model(request.mode)?.settings ?? null
  const entry = {
    at: new Date().toISOString(),
    request,
    model: settings?.model ?? deps.config.ASTRA_MODEL,
    settings,
    refusal: refusalOf(request, deps.config),
  }
  await deps.journal.append(request.run_id, 'start', entry, {
    type: 'started',
    text: `${request.run_id}: ${request.mode === 'offline' ? 'local stand-in model' : entry.model}`,
    details: { kind: 'started', limits: request.limits },
  })
  crashPoint('agent.start-journalled')
  return goOn(deps, request.run_id, context)
}
