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
/** What should hold as well: a memory that never answers is of no use. */
const LEAST_SHOWN = 0.9

type Thresholds = RelevanceModel['thresholds']
/** What each look of a search finds, in the order of the looks. */
type Looked = { kind: Case['query']['kind']; looks: (Judged & { right: boolean })[][] }

/** A pair that keeps to the limits, on answers of models that were fitted without the asked. */
export async function chooseThresholds(corpus: Corpus, stored: StoredCorpus): Promise<Thresholds> {
  const none = { similar: 0, same: 1 }
  const looked: Looked[] = []
  for (const { test, training } of foldsOf(stored.cases, FOLDS)) {
    const model = fitModel({ written: training, observed: stored.observed }, corpus, none)
    for (const each of test) looked.push(await look(each, model, stored))
  }
  const at = (similar: number) => answersAt(looked, { similar, same: 1 })
  const quiet = values.filter((value) => {
    const unrelated = at(value).filter(isKind('unrelated'))
    return share(unrelated, ({ answer }) => answer.length > 0) <= MOST_UNRELATED
  })
  const useful = quiet.filter((value) => {
    const matched = at(value).filter(isKind('transfer'))
    return share(matched, ({ answer }) => answer.some(({ right }) => right)) >= LEAST_SHOWN
  })
  const similar = middleOf(useful.length > 0 ? useful : quiet.slice(0, 1))
  const same = values.find((value) => {
    const answers = answersAt(looked, { similar, same: value })
    const called = answers.flatMap(({ same }) => same)
    const wrong = share(called, ({ right }) => !right)
    const near = share(answers.filter(isKind('near_miss')), (each) => each.same.length > 0)
    return wrong <= MOST_WRONG && near <= MOST_NEAR_MISSES
  })
  return { similar, same: same ?? 1 }
}

const values = Array.from({ length: Math.round(1 / STEP) - 1 }, (_, i) => (i + 1) * STEP)

/** As far as can be from where one of the limits is broken: other failures will differ. */
function middleOf(values: readonly number[]): number {
  const middle = values[Math.floor(values.length / 2)] ?? 1
  return Math.round(middle / STEP) * STEP
}

async function look(
  { asked, query, looks }: Case,
  model: RelevanceModel,
  stored: StoredCorpus,
): Promise<Looked> {
  const found: Looked['looks'] = []
  for (const candidates of looks.map((found) => found.map(({ candidate }) => candidate))) {
    const { judged } = await judge(asked, candidates, model)
    const isRight = ({ candidate }: Judged) =>
      query.relevant.includes(stored.fixOf(candidate.record.memory_id))
    found.push(judged.map((each) => ({ ...each, right: isRight(each) })))
  }
  return { kind: query.kind, looks: found }
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
