import {
  fittedModel,
  type RelevanceModel,
} from '../../services/memory-store/retrieval/relevance-model.ts'
import { type Answer, type AnswerShares, answer, answerShares, type Share } from './answers.ts'
import { type Corpus, matchedKinds, type Query } from './corpus.ts'
import { fitModel } from './fit/fit-model.ts'
import { foldsOf } from './folds.ts'
import { type Method, methods, rank } from './methods.ts'
import { type RankMetrics, rankMetrics } from './metrics.ts'
import type { StoredCorpus } from './store-corpus.ts'

export type Evaluation = {
  methods: Record<Method, Record<string, RankMetrics>>
  answers: AnswerShares
  pairwise: Share
  thresholds: RelevanceModel['thresholds']
}

type Ranked = { query: Query; ids: string[] }

/**
 * Measures the search on a stored corpus. With folds, each query is answered by a model that was
 * fitted on the others; without, by the weights of the product.
 */
export async function evaluate(
  corpus: Corpus,
  stored: StoredCorpus,
  { folds }: { folds: number | null },
): Promise<Evaluation> {
  const ranked: Record<Method, Ranked[]> = { tutorial: [], bm25: [], dense: [], fused: [] }
  const answers: Answer[] = []
  for (const { cases, model } of testsOf(corpus, stored, folds)) {
    for (const each of cases) {
      answers.push(await answer(each, stored, model))
      if (each.query.relevant.length === 0) continue
      for (const method of methods) {
        ranked[method].push({ query: each.query, ids: await rank(method, each, stored, model) })
      }
    }
  }
  const byKind = (method: Method) =>
    Object.fromEntries([
      ...matchedKinds.map((kind) => [
        kind,
        rankMetrics(ranked[method].filter(({ query }) => query.kind === kind)),
      ]),
      ['all', rankMetrics(ranked[method])],
    ])
  return {
    methods: {
      tutorial: byKind('tutorial'),
      bm25: byKind('bm25'),
      dense: byKind('dense'),
      fused: byKind('fused'),
    },
    answers: answerShares(answers, stored),
    pairwise: pairwise(ranked.fused, corpus),
    thresholds: fittedModel.thresholds,
  }
}

function testsOf(corpus: Corpus, { cases, observed }: StoredCorpus, folds: number | null) {
  if (folds === null) return [{ cases, model: fittedModel }]
  return foldsOf(cases, folds).map(({ test, training }) => ({
    cases: test,
    model: fitModel({ written: training, observed }, corpus, fittedModel.thresholds),
  }))
}

/** How often a right fix is before all fixes of the same error type that are not right. */
export function pairwise(ranked: readonly Ranked[], { fixes }: Corpus): Share {
  const share = { hits: 0, n: 0 }
  for (const { query, ids } of ranked) {
    const types = fixes.filter(({ id }) => query.relevant.includes(id)).map((f) => f.error_type)
    const siblings = fixes.filter(
      ({ id, error_type }) => types.includes(error_type) && !query.relevant.includes(id),
    )
    if (siblings.length === 0) continue
    share.n += 1
    const first = (those: readonly string[]) => ids.findIndex((id) => those.includes(id))
    const right = first(query.relevant)
    const wrong = first(siblings.map(({ id }) => id))
    if (right >= 0 && (wrong < 0 || right < wrong)) share.hits += 1
  }
  return share
}
