import type { Payload } from '../../shared/contracts/catalog.ts'
import type { SearchResult } from '../../shared/contracts/memory.ts'
import type { MemoryMatch } from '../../shared/contracts/record.ts'
import { errorText } from '../../shared/errors.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import { errorTypeOf, normaliseSymptom } from '../../shared/symptom.ts'
import type { LiveFilter, MemoryBackend } from './backend.ts'
import { childVectors } from './child-vectors.ts'
import { errorKey } from './error-key.ts'
import { expiredBefore, type MemoryPolicy, scopeOf } from './lifecycle/policy.ts'
import { touchedBy } from './lifecycle/touched-by.ts'
import { noMatchesOf, type Told } from './no-matches.ts'
import { proofProblem } from './proof.ts'
import { evidenceOf } from './retrieval/evidence.ts'
import type { Asked } from './retrieval/features.ts'
import { answersOf, type Judged, judge, type Relevance } from './retrieval/judge.ts'
import { fittedModel, type RelevanceModel } from './retrieval/relevance-model.ts'

/** The words of whoever asks, and for a run the symptom that was observed of it. */
const MAX_QUERY_VECTORS = 2
/** Candidates by symptom, by fix and by words, each: the right one is seldom further down. */
export const CANDIDATES = 20

type Deps = {
  backend: MemoryBackend
  home: string
  policy: MemoryPolicy
  model?: RelevanceModel
}

/**
 * The live records that have to do with the failure, best first, at most `top_k`. With an error type
 * only records of that type are looked at, unless none of them is an answer; a blank one filters
 * nothing. Where the policy shares nothing with whoever asks, the result says why it is empty.
 * Throws UnavailableError when the embedder failed.
 */
export async function searchMemory(
  payload: Payload<'memory', 'search'>,
  context: Pick<JobContext, 'children' | 'log'>,
  { backend, home, policy, model = fittedModel }: Deps,
): Promise<SearchResult> {
  const sharing = scopeOf(policy, payload.repository_id)
  if (sharing.kind === 'withheld') return nothing(sharing.why)
  const asked = askedOf(payload)
  const notBefore = expiredBefore(policy, new Date())
  const everything: LiveFilter = { errorType: null, scope: sharing.scope, notBefore }
  const vectors = await childVectors(context, 1, MAX_QUERY_VECTORS)

  const look = async (filter: LiveFilter) => {
    const text = [asked.errorType ?? '', ...asked.texts].join('\n')
    const found = await backend.candidates({ ...filter, vectors, text, limit: CANDIDATES })
    return judge(asked, found, model)
  }
  const errorType = filterOf(payload.error_type)
  const first = { ...everything, errorType }
  const narrow = await look(first)
  const dropped = errorType !== null && answersOf(narrow.judged, model.thresholds).length === 0
  const judgement = dropped ? await look(everything) : narrow
  const found = answersOf(judgement.judged, model.thresholds)
  const answers = found.slice(0, payload.top_k)
  // Asked again at every search: a key that is no longer trusted proves nothing any more.
  const told = { judgement, trusted: loadTrustedKeys(home) }
  if (!payload.explain) await countShown(backend, answers, context)
  return {
    matches: matchesOf(asked, answers, { ...told, repositoryId: payload.repository_id }),
    error_type_filter: errorType === null ? 'none' : dropped ? 'dropped' : 'kept',
    searched: await backend.countLive(dropped ? everything : first),
    withheld: null,
    ...(payload.explain && {
      no_matches: noMatchesOf(asked, { answers, found, threshold: model.thresholds.similar }, told),
    }),
  }
}

function nothing(why: string): SearchResult {
  return { matches: [], error_type_filter: 'none', searched: 0, withheld: why }
}

/**
 * What is stored is normalised too; a text of nothing but paths and numbers stays as it is. The error
 * type that was observed is evidence; only one that was asked for is a filter.
 */
function askedOf({ query, error_type, symptom = '' }: Payload<'memory', 'search'>): Asked {
  const normalised = normaliseSymptom(query) || query
  const seenToo = symptom.trim() === '' || symptom === normalised ? [] : [symptom]
  const observed = symptom.trim() === '' ? NO_ERROR_TYPE : errorTypeOf(symptom)
  const seen = observed === NO_ERROR_TYPE ? null : observed
  return {
    texts: [normalised, ...seenToo],
    raw: [query, ...seenToo],
    errorType: filterOf(error_type) ?? seen,
  }
}

/** What `errorTypeOf` says of a text that names no error. */
const NO_ERROR_TYPE = 'TestFailure'

function filterOf(errorType: string | null): string | null {
  return errorType !== null && errorKey(errorType) !== '' ? errorType : null
}

function matchesOf(
  asked: Asked,
  answers: readonly (Judged & { relevance: Relevance })[],
  {
    judgement: { judged, weight },
    trusted,
    repositoryId,
  }: Told & { repositoryId: string | undefined },
): MemoryMatch[] {
  return answers.map((answer) => {
    const { record, cosine } = answer.candidate
    const proved = proofProblem(record, trusted) === null
    const evidence = evidenceOf(asked, answer, { weight, rivals: judged, proved })
    return {
      memory_id: record.memory_id,
      score: Math.max(cosine.symptom, cosine.fix),
      // What nothing proves may be read, and is never called the same failure.
      relevance: answer.relevance === 'same' && proved ? 'same' : 'similar',
      probability: answer.probability,
      speaks_for: evidence.for,
      speaks_against: evidence.against,
      proved,
      touched: record.repository_id === repositoryId ? touchedBy(record) : null,
      stale: null,
      fix_description: record.fix_description,
      error_type: record.error_type,
      file_paths: record.file_paths,
      outcome: record.outcome,
      timestamp: record.timestamp,
      session_id: record.session_id,
    }
  })
}

/** A counter that cannot be written (a full disk) is no reason to hold back an answer. */
async function countShown(
  backend: MemoryBackend,
  shown: readonly Judged[],
  { log }: Pick<JobContext, 'log'>,
): Promise<void> {
  if (shown.length === 0) return
  try {
    await backend.count(
      shown.map(({ candidate }) => candidate.record.memory_id),
      'shown',
    )
  } catch (error) {
    log.warn({ error: errorText(error) }, 'shown records were not counted')
  }
}
