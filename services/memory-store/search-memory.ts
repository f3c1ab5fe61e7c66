import type { Payload } from '../../shared/contracts/catalog.ts'
import type { SearchResult } from '../../shared/contracts/memory.ts'
import type { MemoryMatch } from '../../shared/contracts/record.ts'
import { errorText } from '../../shared/errors.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import { loadTrustedKeys } from '../../shared/receipt.ts'
import type { Candidate, MemoryBackend } from './backend.ts'
import { childVectors } from './child-vectors.ts'
import { errorKey } from './error-key.ts'
import { proofProblem } from './proof.ts'
import { RELEVANCE_FLOOR } from './relevance-floor.ts'

/**
 * The live records that are near enough to the query, best first, at most `top_k`. A blank error
 * type filters nothing. Throws UnavailableError when the embedder failed.
 */
export async function searchMemory(
  payload: Payload<'memory', 'search'>,
  context: Pick<JobContext, 'children' | 'log'>,
  { backend, home }: { backend: MemoryBackend; home: string },
): Promise<SearchResult> {
  const { error_type, top_k } = payload
  const errorType = error_type !== null && errorKey(error_type) !== '' ? error_type : null
  const [vector] = await childVectors(context, 1)
  if (!vector) throw new Error('childVectors gave another number than asked for')
  const nearest = await backend.search(vector, { errorType, limit: top_k })
  const relevant = nearest.filter((candidate) => candidate.cosine >= RELEVANCE_FLOOR)
  await countShown(backend, relevant, context)
  const trusted = loadTrustedKeys(home)
  return {
    matches: relevant.map(
      ({ record, cosine }): MemoryMatch => ({
        memory_id: record.memory_id,
        score: cosine,
        // Asked again at every search: a key that is no longer trusted proves nothing any more.
        proved: proofProblem(record, trusted) === null,
        fix_description: record.fix_description,
        error_type: record.error_type,
        file_paths: record.file_paths,
        outcome: record.outcome,
        timestamp: record.timestamp,
        session_id: record.session_id,
      }),
    ),
    searched: await backend.countLive(errorType),
  }
}

/** A counter that cannot be written (a full disk) is no reason to hold back an answer. */
async function countShown(
  backend: MemoryBackend,
  shown: Candidate[],
  { log }: Pick<JobContext, 'log'>,
): Promise<void> {
  if (shown.length === 0) return
  try {
    await backend.countShown(shown.map(({ record }) => record.memory_id))
  } catch (error) {
    log.warn({ error: errorText(error) }, 'shown records were not counted')
  }
}
