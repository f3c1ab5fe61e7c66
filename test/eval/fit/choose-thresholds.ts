import { errorKey } from '../../../services/memory-store/error-key.ts'
import { answersOf, type Judged, judge } from '../../../services/memory-store/retrieval/judge.ts'
import type { RelevanceModel } from '../../../services/memory-store/retrieval/relevance-model.ts'
import { TOP_K } from '../answers.ts'
import type { Corpus } from '../corpus.ts'
import { foldsOf } from '../folds.ts'
import type { Case, StoredCorpus } from '../store-corpus.ts'
import { fitModel } from './fit-model.ts'

const FOLDS = 5
const STEP = 0.01

/** What must hold: better to show nothing, or a fix as similar, than the wrong one as the same. */
const MOST_UNRELATED = 0.08
const MOST_WRONG = 0.07
const MOST_NEAR_MISSES = 0.2

type Thresholds = RelevanceModel['thresholds']
/** What each look of a search finds, in the order of the looks. */
type Looked = { kind: Case['query']['kind']; looks: (Judged & { right: boolean })[][] }

/** The lowest pair that keeps to the limits, on answers of models that were fitted without them. */
export function chooseThresholds(corpus: Corpus, stored: StoredCorpus): Thresholds {
  const none = { similar: 0, same: 1 }
  const looked = foldsOf(stored.cases, FOLDS).flatMap(({ test, training }) => {
    const model = fitModel([...training, ...stored.observed], corpus, none)
    return test.map((each) => look(each, model, stored))
  })
  const similar = lowest((value) => {
    const answers = answersAt(looked, { similar: value, same: 1 }).filter(isKind('unrelated'))
    return share(answers, ({ answer }) => answer.length > 0) <= MOST_UNRELATED
  })
  const same = lowest((value) => {
    const answers = answersAt(looked, { similar, same: value })
    const called = answers.flatMap(({ same }) => same)
    const wrong = share(called, ({ right }) => !right)
    const near = share(answers.filter(isKind('near_miss')), (each) => each.same.length > 0)
    return wrong <= MOST_WRONG && near <= MOST_NEAR_MISSES
  })
  return { similar, same }
}

/** As a search: the records of the error type first, then all. */
function look(each: Case, model: RelevanceModel, stored: StoredCorpus): Looked {
  const { asked, query } = each
  const all = each.candidates.map(({ candidate }) => candidate)
  const key = asked.errorType === null ? null : errorKey(asked.errorType)
  const ofType = all.filter(({ record }) => errorKey(record.error_type) === key)
  const judged = (pool: typeof all) =>
    judge(asked, pool, model).judged.map((each) => ({
      ...each,
      right: query.relevant.includes(stored.fixOf(each.candidate.record.memory_id)),
    }))
  return { kind: query.kind, looks: [...(ofType.length > 0 ? [judged(ofType)] : []), judged(all)] }
}

function answersAt(looked: readonly Looked[], thresholds: Thresholds) {
  return looked.map(({ kind, looks }) => {
    const found = looks.map((judged) => answersOf(judged, thresholds))
    const answer = (found.find((each) => each.length > 0) ?? []).slice(0, TOP_K)
    return { kind, answer, same: answer.filter(({ relevance }) => relevance === 'same') }
  })
}

function isKind(kind: Looked['kind']) {
  return (each: { kind: Looked['kind'] }) => each.kind === kind
}

function share<T>(items: readonly T[], counts: (item: T) => boolean): number {
  return items.filter(counts).length / Math.max(1, items.length)
}

/** The lowest value that holds together with all above it. */
function lowest(holds: (value: number) => boolean): number {
  let found = 1
  for (let step = Math.round(1 / STEP); step > 0; step -= 1) {
    const value = Math.round(step * STEP * 100) / 100
    if (!holds(value)) break
    found = value
  }
  return found
}
