import { setTimeout as delay } from 'node:timers/promises'
import type { ModelClient, ModelReply } from './client.ts'

const FIRST_POLL_MS = 250
const MAX_POLL_MS = 5_000

/**
 * Waits for a background response. `sentAt` and `timeoutMs` are the request's own limit: a crash in
 * between does not give it more time. A response that is too late is cancelled, as far as it can be.
 */
export async function awaitBackground(
  client: ModelClient,
  id: string,
  limit: { sentAt: number; timeoutMs: number },
  signal: AbortSignal,
): Promise<ModelReply> {
  const deadline = limit.sentAt + limit.timeoutMs
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
    const reply = await client.retrieve(id, signal)
    if (reply.ok && isDone(reply.response.status)) return reply
    // A fault of the look is none of the response, unless the service says that it is not there.
    if (!reply.ok && reply.fault.final) return { ok: false, fault: { ...reply.fault, ...lost } }
    if (Date.now() > deadline) break
    await delay(pause, undefined, { signal })
  }
  await client.cancel(id, signal)
  const message = `the background response ${id} was not done within ${limit.timeoutMs / 1000} s`
  return { ok: false, fault: { ...lost, code: 'timeout', message, retry_after_ms: null } }
}

const lost = { final: false, charged: true }

export function isDone(status: string | undefined): boolean {
  return status !== 'queued' && status !== 'in_progress'
}
