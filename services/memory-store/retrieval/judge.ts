import type { Candidate } from '../backend.ts'
import { createPace } from '../pace.ts'
import { type Asked, type Compared, compare, type Features } from './features.ts'
import {
  kinshipOdds,
  probabilityOf,
  type RelevanceModel,
  rankingScore,
  rightnessOdds,
} from './relevance-model.ts'
import { recordProfile } from './text-profile.ts'
import type { WordWeight } from './word-weights.ts'

export type Judged = Compared & {
  /** What it is ranked by. */
  score: number
  /** That the record has to do with the failure. */
  kinship: number
  /** That its fix is the right one. */
  probability: number
  /** How far its ranking score is above the best rival's; below 0: another one is nearer. */
  margin: number
}

export type Relevance = 'same' | 'similar'

export type Judgement = { judged: Judged[]; weight: WordWeight }

/** How many candidates are compared word for word: more cost time, and the right one is among these. */
export const POOL = 24

/** Ranks the candidates, best first, and says how likely each has the right fix. */
export async function judge(
  asked: Asked,
  candidates: readonly Candidate[],
  model: RelevanceModel,
): Promise<Judgement> {
  const pool = nearest(candidates, POOL)
  const pace = createPace()
  for (const { record } of pool) {
    recordProfile(record)
    if (pace.isDue) await pace.breathe()
  }
  const { compared, weight } = compare(asked, pool)
  return { judged: judgeCompared(compared, model), weight }
}

export function judgeCompared(compared: readonly Compared[], model: RelevanceModel): Judged[] {
  const ranked = compared
    .map((each) => ({ ...each, score: bestOf(each.views, (view) => rankingScore(view, model)) }))
    .sort((a, b) => b.score - a.score)
  return ranked.map((each, place) => {
    const rival = ranked[place === 0 ? 1 : 0]?.score ?? model.rival
    const margin = each.score - Math.max(rival, model.rival)
    const odds = bestOf(each.views, (view) => rightnessOdds({ ...view, margin }, model))
    const kinship = probabilityOf(bestOf(each.views, (view) => kinshipOdds(view, model)))
    return { ...each, kinship, probability: probabilityOf(odds), margin }
  })
}

/** What is rather unrelated than related is not the same, however far it stands out from others. */
const LIKELY = 0.5
/** Ranking score: what is no further behind the nearest than this is about as near. */
const BESIDE = 2

/**
 * The answers among what was judged, best first. The nearest decides whether there is any: of many
 * candidates some further down always has a phrase in common. What is about as near is shown beside
 * it, because only reading tells two causes of one error apart.
 */
export function answersOf<T extends Pick<Judged, 'kinship' | 'probability' | 'score'>>(
  judged: readonly T[],
  { similar, same }: RelevanceModel['thresholds'],
): (T & { relevance: Relevance })[] {
  const [nearest] = judged
  if (!nearest || nearest.kinship < similar) return []
  return judged
    .filter(({ kinship, score }) => kinship >= similar || score >= nearest.score - BESIDE)
    .map((each) => {
      const isSame = each.probability >= same && each.kinship >= LIKELY
      return { ...each, relevance: isSame ? 'same' : 'similar' }
    })
}

function bestOf(views: readonly Features[], by: (view: Features) => number): number {
  return Math.max(...views.map(by))
}

/** The first `size` by the ranks in three lists: reciprocal ranks need no common scale. */
export function nearest(candidates: readonly Candidate[], size: number): Candidate[] {
  const scores = new Map<Candidate, number>()
  const lists = [
    ranked(candidates, ({ cosine }) => cosine.symptom),
    ranked(candidates, ({ cosine }) => cosine.fix),
    ranked(
      candidates.filter(({ lexical }) => lexical > 0),
      ({ lexical }) => lexical,
    ),
  ]
  for (const list of lists) {
    for (const [rank, candidate] of list.entries()) {
      scores.set(candidate, (scores.get(candidate) ?? 0) + 1 / (RANK_DAMPING + rank))
    }
  }
  return [...candidates].sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0)).slice(0, size)
}

/** So large that being first in one list does not outweigh being good in two. */
const RANK_DAMPING = 60

function ranked(candidates: readonly Candidate[], by: (candidate: Candidate) => number) {
  return [...candidates].sort((a, b) => by(b) - by(a))
}
