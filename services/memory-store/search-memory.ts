import type { Payload } from '../../shared/contracts/catalog.ts'
import type { SearchResult } from '../../shared/contracts/memory.ts'
import type { MemoryMatch } from '../../shared/contracts/record.ts'
import { errorText } from '../../shared/errors.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import type { Candidate, LiveFilter, MemoryBackend } from './backend.ts'
import { childVectors } from './child-vectors.ts'
import { errorKey } from './error-key.ts'
import { expiredBefore, type MemoryPolicy, scopeOf } from './lifecycle/policy.ts'
import { touchedBy } from './lifecycle/touched-by.ts'
import { proofProblem } from './proof.ts'
import { RELEVANCE_FLOOR } from './relevance-floor.ts'

/** The words of whoever asks, and for a run the symptom that was observed of it. */
const MAX_QUERY_VECTORS = 2

/**
 * The live records that are near enough to the query, or to the symptom observed, best first, at
 * most `top_k`. A blank error type filters nothing. Where the policy shares nothing with whoever
 * asks, the result says why it is empty. Throws UnavailableError when the embedder failed.
 */
export async function searchMemory(
  payload: Payload<'memory', 'search'>,
  context: Pick<JobContext, 'children' | 'log'>,
  { backend, home, policy }: { backend: MemoryBackend; home: string; policy: MemoryPolicy },
): Promise<SearchResult> {
  const { query, error_type, top_k, symptom = '' } = payload
  const sharing = scopeOf(policy, payload.repository_id)
  if (sharing.kind === 'withheld') return nothing(sharing.why)
  const errorType = error_type !== null && errorKey(error_type) !== '' ? error_type : null
  const notBefore = expiredBefore(policy, new Date())
  const filter: LiveFilter = { errorType, scope: sharing.scope, notBefore }
  const vectors = await childVectors(context, 1, MAX_QUERY_VECTORS)
  const text = `${query}\n${symptom}`
  const found = await backend.candidates({ ...filter, vectors, text, limit: top_k })
  const relevant = found
    .map((candidate) => ({ ...candidate, score: scoreOf(candidate) }))
    .filter(({ score }) => score >= RELEVANCE_FLOOR)
    .sort((a, b) => b.score - a.score)
    .slice(0, top_k)
  await countShown(backend, relevant, context)
  const trusted = loadTrustedKeys(home)
  return {
    matches: relevant.map(
      ({ record, score }): MemoryMatch => ({
        memory_id: record.memory_id,
        score,
        relevance: 'similar',
        probability: 0,
        speaks_for: [],
        speaks_against: [],
        // Asked again at every search: a key that is no longer trusted proves nothing any more.
        proved: proofProblem(record, trusted) === null,
        touched: record.repository_id === payload.repository_id ? touchedBy(record) : null,
        stale: null,
        fix_description: record.fix_description,
        error_type: record.error_type,
        file_paths: record.file_paths,
        outcome: record.outcome,
        timestamp: record.timestamp,
        session_id: record.session_id,
      }),
    ),
    error_type_filter: errorType === null ? 'none' : 'kept',
    searched: await backend.countLive(filter),
    withheld: null,
  }
}

function nothing(why: string): SearchResult {
  return { matches: [], error_type_filter: 'none', searched: 0, withheld: why }
}

function scoreOf({ cosine }: Candidate): number {
  return Math.max(cosine.symptom, cosine.fix)
}

/** A counter that cannot be written (a full disk) is no reason to hold back an answer. */
async function countShown(
  backend: MemoryBackend,
  shown: Candidate[],
  { log }: Pick<JobContext, 'log'>,
): Promise<void> {
  if (shown.length === 0) return
  try {
    await backend.count(
      shown.map(({ record }) => record.memory_id),
      'shown',
    )
  } catch (error) {
    log.warn({ error: errorText(error) }, 'shown records were not counted')
  }
}
