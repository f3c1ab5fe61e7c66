import type { Payload } from './contracts/catalog.ts'
import { UsageError } from './errors.ts'
import type { Scrubber } from './scrub/scrubber.ts'
import { normaliseSymptom } from './symptom.ts'

const MAX_QUERY = 20_000

export type MemoryQuestion = {
  payload: Payload<'memory', 'search'>
  /** To be embedded for it. */
  texts: string[]
}

/** A person's search, asked as a run asks: scrubbed first. Throws UsageError for a text of no use. */
export async function memoryQuestion(
  asked: {
    text: string
    errorType: string | null
    topK: number
    repositoryId?: string | undefined
  },
  scrub: Scrubber,
): Promise<MemoryQuestion> {
  const query = (await scrub(asked.text.trim())).text
  if (query === '' || query.length > MAX_QUERY) {
    throw new UsageError('the text to search by must have 1 to 20,000 characters')
  }
  const { errorType, topK, repositoryId } = asked
  return {
    payload: {
      query,
      error_type: errorType ? (await scrub(errorType)).text : null,
      top_k: topK,
      repository_id: repositoryId,
    },
    // What is stored is normalised too; a text of nothing but paths and numbers stays as it is.
    texts: [normaliseSymptom(query) || query],
  }
}
