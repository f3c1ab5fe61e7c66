import { type Compared, compare } from '../../../services/memory-store/retrieval/features.ts'
import {
  type Judged,
  judgeCompared,
  nearest,
  POOL,
} from '../../../services/memory-store/retrieval/judge.ts'
import {
  kinshipFeatures,
  type RelevanceModel,
  rankingFeatures,
} from '../../../services/memory-store/retrieval/relevance-model.ts'
import { type Corpus, familyOf } from '../corpus.ts'
import type { Case } from '../store-corpus.ts'
import { fitListwise, fitLogistic, type Row } from './regression.ts'

/** Chosen by cross-validation among 0.3, 1, 3 and 10; the results hardly depend on them. */
const RANKING_PENALTY = 1
const KINSHIP_PENALTY = 3
/** How many of a query's best candidates the last model sees: what an answer could hold. */
const LOOKED_AT = 3
/** A query whose right fix is taken away counts less than one that was written without. */
const TAKEN_AWAY = 0.3

type Thresholds = RelevanceModel['thresholds']

/** The three models, one after the other, because each looks at what the last one ranks first. */
export function fitModel(
  cases: readonly Case[],
  { fixes }: Pick<Corpus, 'fixes'>,
  thresholds: Thresholds,
): RelevanceModel {
  const ranking = fitRanking(cases)
  const zero = { bias: 0, fix: 0, coverage: 0, phrases: 0, errorType: 0, length: 0 }
  const rightness = { bias: 0, kinship: 0, margin: 0 }
  const ranked: RelevanceModel = { ranking, kinship: zero, rightness, rival: NO_RIVAL, thresholds }
  const related = { ...ranked, kinship: fitKinship(cases, fixes, ranked) }
  const withRival = { ...related, rival: ordinaryRival(cases, ranked) }
  return { ...withRival, rightness: fitRightness(cases, withRival) }
}

/** Below every score. */
const NO_RIVAL = -1e6

function fitRanking(cases: readonly Case[]): RelevanceModel['ranking'] {
  const lists = cases.map((each) => {
    return comparedOf(each).map(
      ({ candidate, views: [view] }): Row => ({
        x: rankingFeatures.map((name) => view?.[name] ?? 0),
        right: each.query.relevant.includes(fixIdOf(each, candidate.record.memory_id)),
        weight: 1,
      }),
    )
  })
  const weights = fitListwise(
    lists.filter((list) => list.some(({ right }) => right)),
    RANKING_PENALTY,
  )
  const [symptom = 0, fix = 0, words = 0, coverage = 0, phrases = 0, errorType = 0] = weights
  return { symptom, fix, words, coverage, phrases, errorType }
}

/** Best candidates of queries with a match against those of queries without, or robbed of theirs. */
function fitKinship(
  cases: readonly Case[],
  fixes: Corpus['fixes'],
  ranked: RelevanceModel,
): RelevanceModel['kinship'] {
  const rows: Row[] = []
  const add = (best: Judged | undefined, right: boolean, weight: number) => {
    const x = kinshipFeatures.map((name) => best?.views[0]?.[name] ?? 0)
    if (best) rows.push({ x, right, weight })
  }
  for (const each of cases) {
    if (each.query.kind === 'near_miss') continue
    const hasMatch = each.query.relevant.length > 0
    add(judgedOf(each, ranked)[0], hasMatch, each.weight)
    if (hasMatch) add(judgedOf(each, ranked, familyOf(each.query, fixes))[0], false, 1)
  }
  const { bias, weights } = fitLogistic(rows, KINSHIP_PENALTY)
  const [fix = 0, coverage = 0, phrases = 0, errorType = 0, length = 0] = weights
  return { bias, fix, coverage, phrases, errorType, length }
}

/** Half of the best wrong candidates score less: where a memory is small, one of those is assumed. */
function ordinaryRival(cases: readonly Case[], ranked: RelevanceModel): number {
  const scores = cases
    .filter(({ query }) => query.relevant.length > 0)
    .map((each) => judgedOf(each, ranked, new Set(each.query.relevant))[0]?.score ?? NO_RIVAL)
    .sort((a, b) => a - b)
  return scores[Math.floor(scores.length / 4)] ?? NO_RIVAL
}

function fitRightness(cases: readonly Case[], model: RelevanceModel): RelevanceModel['rightness'] {
  const rows: Row[] = []
  for (const each of cases) {
    const { relevant } = each.query
    const add = (judged: Judged[], weight: number) => {
      for (const { candidate, odds, margin } of judged.slice(0, LOOKED_AT)) {
        const right = relevant.includes(fixIdOf(each, candidate.record.memory_id))
        rows.push({ x: [odds, margin], right, weight })
      }
    }
    add(judgedOf(each, model), each.weight)
    if (relevant.length > 0) add(judgedOf(each, model, new Set(relevant)), TAKEN_AWAY)
  }
  const { bias, weights } = fitLogistic(rows, 1)
  const [kinship = 0, margin = 0] = weights
  return { bias, kinship, margin }
}

/** What the model says of a query, with some fixes taken out of the memory. */
function judgedOf(each: Case, model: RelevanceModel, without?: ReadonlySet<string>): Judged[] {
  return judgeCompared(comparedOf(each, without), model)
}

/** Comparing takes most of the time and depends on no weights: it is done once. */
const comparisons = new WeakMap<Case, Map<string, Compared[]>>()

function comparedOf(each: Case, without: ReadonlySet<string> = new Set()): Compared[] {
  const known = comparisons.get(each) ?? new Map<string, Compared[]>()
  comparisons.set(each, known)
  const key = [...without].join(' ')
  const left = each.candidates.filter(({ id }) => !without.has(id))
  const pool = nearest(
    left.map(({ candidate }) => candidate),
    POOL,
  )
  const compared = known.get(key) ?? compare(each.asked, pool).compared
  known.set(key, compared)
  return compared
}

function fixIdOf({ candidates }: Case, memoryId: string): string {
  return candidates.find(({ candidate }) => candidate.record.memory_id === memoryId)?.id ?? ''
}
