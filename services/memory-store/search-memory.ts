import type { Payload } from '../../shared/contracts/catalog.ts'
import type { SearchResult } from '../../shared/contracts/memory.ts'
import type { MemoryMatch } from '../../shared/contracts/record.ts'
import { errorText } from '../../shared/errors.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import type { Candidate, MemoryBackend } from './backend.ts'
import { childVectors } from './child-vectors.ts'
import { errorKey } from './error-key.ts'
import { proofProblem } from './proof.ts'
import { RELEVANCE_FLOOR } from './relevance-floor.ts'

/** The words of whoever asks, and for a run the symptom that was observed of it. */
const MAX_QUERY_VECTORS = 2

/**
 * The live records that are near enough to the query, or to the symptom observed, best first, at
 * most `top_k`. A blank error type filters nothing. Throws UnavailableError when the embedder failed.
 */
export async function searchMemory(
  payload: Payload<'memory', 'search'>,
  context: Pick<JobContext, 'children' | 'log'>,
  { backend, home }: { backend: MemoryBackend; home: string },
): Promise<SearchResult> {
  const { error_type, top_k } = payload
  const errorType = error_type !== null && errorKey(error_type) !== '' ? error_type : null
  const vectors = await childVectors(context, 1, MAX_QUERY_VECTORS)
  const found = await Promise.all(
    vectors.map((vector) => backend.search(vector, { errorType, limit: top_k })),
  )
  const nearest = bestOf(found.flat()).slice(0, top_k)
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

/** Each record once, by its best cosine, best first. */
function bestOf(candidates: Candidate[]): Candidate[] {
  const best = new Map<string, Candidate>()
  for (const candidate of candidates) {
    const { memory_id } = candidate.record
    if (candidate.cosine > (best.get(memory_id)?.cosine ?? -1)) best.set(memory_id, candidate)
  }
  return [...best.values()].sort((a, b) => b.cosine - a.cosine)
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
