import type { JobName, Payload, Result } from '../../../shared/contracts/catalog.ts'
import { AstraError, errorText } from '../../../shared/errors.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import type { Deps } from '../deps.ts'

/** A page that comes later than this is reloaded anyhow. */
export const ANSWER_MS = 8_000
/** The first search also waits until the embedder has loaded its model. */
const SEARCH_MS = 20_000

export type Away = { kind: 'away'; why: string }
export type Answer<T> = { kind: 'answer'; value: T } | Away

/** A question of a page to the memory-store. That no answer comes is something to show. */
export async function askStore<J extends JobName<'memory'>>(
  { producer }: Pick<Deps, 'producer'>,
  name: J,
  payload: Payload<'memory', J>,
  texts: string[] = [],
): Promise<Answer<Result<'memory', J>>> {
  const timeoutMs = texts.length > 0 ? SEARCH_MS : ANSWER_MS
  try {
    const value = await askMemory(producer, name, payload, { texts, timeoutMs })
    return { kind: 'answer', value }
  } catch (error) {
    // No answer in time, or a job that failed, such as one whose store is away.
    if (error instanceof AstraError) return { kind: 'away', why: errorText(error) }
    throw error
  }
}
