import { randomUUID } from 'node:crypto'
import type { JobName, Payload, Result } from '../contracts/catalog.ts'
import { jobIdOf } from '../contracts/ids.ts'
import { ask } from './ask.ts'
import { flowJob, type Producer } from './producer.ts'

/** The first question also waits until the embedder has loaded its model. */
const ANSWER_MS = 30_000

/**
 * One question to the memory-store; `texts` are embedded for it first. Throws UnavailableError when
 * no answer comes in time.
 */
export async function askMemory<J extends JobName<'memory'>>(
  producer: Producer,
  name: J,
  payload: Payload<'memory', J>,
  { texts = [], timeoutMs = ANSWER_MS }: { texts?: string[]; timeoutMs?: number } = {},
): Promise<Result<'memory', J>> {
  const id = randomUUID()
  const embed =
    texts.length > 0 ? [flowJob('embeddings', 'embed', { texts }, jobIdOf('embed', id))] : []
  const flow = flowJob('memory', name, payload, jobIdOf(name, id), embed)
  return ask(producer, { ...flow, queueName: 'memory', name }, { timeoutMs })
}
