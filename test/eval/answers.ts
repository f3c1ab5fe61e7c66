import type { RelevanceModel } from '../../services/memory-store/retrieval/relevance-model.ts'
import { searchMemory } from '../../services/memory-store/search-memory.ts'
import type { SearchResult } from '../../shared/contracts/memory.ts'
import { shareAll } from '../support/memory.ts'
import { type Kind, matchedKinds, unmatchedKinds } from './corpus.ts'
import { type Case, embeddedJob, type StoredCorpus } from './store-corpus.ts'

/** As many as the CLI asks for by default. */
export const TOP_K = 3

export type Answer = { case: Case; matches: SearchResult['matches'] }

/** What the product answers, through the handler of its search job. */
export async function answer(
  each: Case,
  stored: StoredCorpus,
  model: RelevanceModel,
): Promise<Answer> {
  const { query, error_type } = each.query
  const { matches } = await searchMemory(
    { query, error_type, top_k: TOP_K },
    embeddedJob([each.vectors.normalised]),
    { backend: stored.backend, home: stored.home, policy: shareAll, model },
  )
  return { case: each, matches }
}

export type Share = { hits: number; n: number }
export type AnswerShares = {
  unmatched: { kind: Kind; any: Share; same: Share }[]
  matched: { kind: Kind; shown: Share; same: Share }[]
  samePrecision: Share
}

export function answerShares(answers: readonly Answer[], stored: StoredCorpus): AnswerShares {
  const rated = answers.map((each) => ({
    kind: each.case.query.kind,
    matches: each.matches.map(({ memory_id, relevance }) => ({
      right: each.case.query.relevant.includes(stored.fixOf(memory_id)),
      same: relevance === 'same',
    })),
  }))
  const share = (
    kind: Kind,
    counts: (match: { right: boolean; same: boolean }) => boolean,
  ): Share => {
    const ofKind = rated.filter((each) => each.kind === kind)
    return { hits: ofKind.filter(({ matches }) => matches.some(counts)).length, n: ofKind.length }
  }
  const same = rated.flatMap(({ matches }) => matches.filter((match) => match.same))
  return {
    unmatched: unmatchedKinds.map((kind) => ({
      kind,
      any: share(kind, () => true),
      same: share(kind, (match) => match.same),
    })),
    matched: matchedKinds.map((kind) => ({
      kind,
      shown: share(kind, ({ right }) => right),
      same: share(kind, (match) => match.right && match.same),
    })),
    samePrecision: { hits: same.filter(({ right }) => right).length, n: same.length },
  }
}
