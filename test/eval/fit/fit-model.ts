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
  rightnessFeatures,
} from '../../../services/memory-store/retrieval/relevance-model.ts'
import { type Corpus, familyOf } from '../corpus.ts'
import type { Case, Found } from '../store-corpus.ts'
import { fitListwise, fitLogistic, type Row } from './regression.ts'

/** Chosen by cross-validation among 0.3, 1, 3 and 10; the results hardly depend on them. */
const RANKING_PENALTY = 1
const KINSHIP_PENALTY = 3
const RIGHTNESS_PENALTY = 1

type Thresholds = RelevanceModel['thresholds']

/** What was asked, and the whole symptoms that a run would have sent. */
export type Cases = { written: readonly Case[]; observed: readonly Case[] }

/** The three models, one after the other, because each looks at what the last one ranks first. */
export function fitModel(
  { written, observed }: Cases,
  { fixes }: Pick<Corpus, 'fixes'>,
  thresholds: Thresholds,
): RelevanceModel {
  const ranking = fitRanking(written)
  const zero = { bias: 0, symptom: 0, fix: 0, coverage: 0, standout: 0, errorType: 0 }
  const rightness = { bias: 0, standout: 0, quoted: 0, margin: 0 }
  const ranked: RelevanceModel = { ranking, kinship: zero, rightness, rival: NO_RIVAL, thresholds }
  const kinship = fitKinship([...written, ...observed], fixes, ranked)
  const withRival = { ...ranked, kinship, rival: ordinaryRival(written, ranked) }
  return { ...withRival, rightness: fitRightness(written, withRival) }
}

/** Below every score. */
const NO_RIVAL = -1e6

function fitRanking(cases: readonly Case[]): RelevanceModel['ranking'] {
  const lists = cases.map((each) => {
    return comparedOf(each, widest(each)).map(
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
  const [symptom = 0, fix = 0, words = 0, coverage = 0, errorType = 0] = weights
  return { symptom, fix, words, coverage, errorType }
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
    for (const { found, weight } of looksOf(each)) {
      add(judgedOf(each, found, ranked)[0], hasMatch, weight)
    }
    const left = without(widest(each), familyOf(each.query, fixes))
    if (hasMatch) add(judgedOf(each, left, ranked)[0], false, 1)
  }
  const { bias, weights } = fitLogistic(rows, KINSHIP_PENALTY)
  const [symptom = 0, fix = 0, coverage = 0, standout = 0, errorType = 0] = weights
  return { bias, symptom, fix, coverage, standout, errorType }
}

/** A quarter of the best wrong candidates score less: one of those is assumed in a small memory. */
function ordinaryRival(cases: readonly Case[], ranked: RelevanceModel): number {
  const scores = cases
    .filter(({ query }) => query.relevant.length > 0)
    .map((each) => {
      const left = without(widest(each), new Set(each.query.relevant))
      return judgedOf(each, left, ranked)[0]?.score ?? NO_RIVAL
    })
    .sort((a, b) => a - b)
  return scores[Math.floor(scores.length / 4)] ?? NO_RIVAL
}

/** What is ranked first in each look, right or wrong. */
function fitRightness(
  written: readonly Case[],
  model: RelevanceModel,
): RelevanceModel['rightness'] {
  const rows = written.flatMap((each) =>
    looksOf(each).flatMap(({ found, weight }): Row[] => {
      const [best] = judgedOf(each, found, model)
      const [view] = best?.views ?? []
      if (!best || !view) return []
      const evidence = { ...view, margin: best.margin }
      const right = each.query.relevant.includes(fixIdOf(each, best.candidate.record.memory_id))
      return [{ x: rightnessFeatures.map((name) => evidence[name]), right, weight }]
    }),
  )
  const { bias, weights } = fitLogistic(rows, RIGHTNESS_PENALTY)
  const [standout = 0, quoted = 0, margin = 0] = weights
  return { bias, standout, quoted, margin }
}

/** A case counts as much with two looks as with one. */
function looksOf({ looks, weight }: Case) {
  return looks.map((found) => ({ found, weight: weight / looks.length }))
}

function widest({ looks }: Case): readonly Found[] {
  return looks.at(-1) ?? []
}

/** What would be found if the memory had none of these. */
function without(found: readonly Found[], gone: ReadonlySet<string>): Found[] {
  return found.filter(({ id }) => !gone.has(id))
}

function judgedOf(each: Case, found: readonly Found[], model: RelevanceModel): Judged[] {
  return judgeCompared(comparedOf(each, found), model)
}

/** Comparing takes most of the time and depends on no weights: it is done once. */
const comparisons = new WeakMap<Case, Map<string, Compared[]>>()

function comparedOf(each: Case, found: readonly Found[]): Compared[] {
  const known = comparisons.get(each) ?? new Map<string, Compared[]>()
  comparisons.set(each, known)
  const key = found.map(({ id }) => id).join(' ')
  const candidates = found.map(({ candidate }) => candidate)
  const compared = known.get(key) ?? compare(each.asked, nearest(candidates, POOL)).compared
  known.set(key, compared)
  return compared
}

function fixIdOf(each: Case, memoryId: string): string {
  const found = each.looks.flat()
  return found.find(({ candidate }) => candidate.record.memory_id === memoryId)?.id ?? ''
}
