import type { Query } from './corpus.ts'

export type RankMetrics = {
  n: number
  recall1: number
  recall3: number
  mrr10: number
  ndcg10: number
}

/** The means over the queries, each with the ids that a method ranked, best first. */
export function rankMetrics(
  ranked: readonly { query: Query; ids: readonly string[] }[],
): RankMetrics {
  const mean = (of: (each: { query: Query; ids: readonly string[] }) => number) =>
    ranked.reduce((sum, each) => sum + of(each), 0) / Math.max(1, ranked.length)
  return {
    n: ranked.length,
    recall1: mean(({ query, ids }) => recall(query, ids, 1)),
    recall3: mean(({ query, ids }) => recall(query, ids, 3)),
    mrr10: mean(({ query, ids }) => reciprocalRank(query, ids)),
    ndcg10: mean(({ query, ids }) => gain(query, ids) / idealGain(query)),
  }
}

function recall({ relevant }: Query, ids: readonly string[], depth: number): number {
  return ids.slice(0, depth).filter((id) => relevant.includes(id)).length / relevant.length
}

function reciprocalRank({ relevant }: Query, ids: readonly string[]): number {
  const rank = ids.slice(0, 10).findIndex((id) => relevant.includes(id))
  return rank < 0 ? 0 : 1 / (rank + 1)
}

function gain({ graded }: Query, ids: readonly string[]): number {
  return discounted(ids.map((id) => graded[id] ?? 0))
}

function idealGain({ graded }: Query): number {
  return discounted(Object.values(graded).sort((a, b) => b - a))
}

function discounted(grades: readonly number[]): number {
  return grades
    .slice(0, 10)
    .reduce((sum, grade, index) => sum + (2 ** grade - 1) / Math.log2(index + 2), 0)
}

/** The 95 % interval of a share by Wilson's method, which holds for small numbers too. */
export function wilson(hits: number, n: number): [low: number, high: number] {
  if (n === 0) return [0, 1]
  const z = 1.96
  const share = hits / n
  const middle = share + (z * z) / (2 * n)
  const spread = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))
  const scale = 1 + (z * z) / n
  return [Math.max(0, (middle - spread) / scale), Math.min(1, (middle + spread) / scale)]
}
