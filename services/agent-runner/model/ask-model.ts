import type { RunMode } from '../../../shared/contracts/run.ts'
import { observe } from '../../../shared/metrics.ts'
import { span } from '../../../shared/tracing.ts'
import type { ModelReply } from './client.ts'

/** Asks by `ask`, and tells metrics and traces how long one attempt took. */
export async function askModel(
  attempt: { mode: RunMode; model: string; request: number; attempt: number },
  ask: () => Promise<ModelReply>,
): Promise<ModelReply> {
  const attributes = {
    'gen_ai.request.model': attempt.model,
    'astra.request': attempt.request,
    'astra.attempt': attempt.attempt,
  }
  const started = performance.now()
  const reply = await span('model request', attributes, ask)
  const outcome = reply.ok ? 'answered' : 'fault'
  const seconds = (performance.now() - started) / 1000
  observe('astra_model_request_duration_seconds', { mode: attempt.mode, outcome }, seconds)
  return reply
}
