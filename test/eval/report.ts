import type { Share } from './answers.ts'
import { matchedKinds } from './corpus.ts'
import type { Evaluation } from './evaluate.ts'
import { methods } from './methods.ts'
import { wilson } from './metrics.ts'

export function reportText({ methods: ranked, answers, pairwise, thresholds }: Evaluation): string {
  const kinds = [...matchedKinds, 'all']
  const rows = kinds.flatMap((kind) =>
    methods.map((method) => {
      const { n = 0, recall1 = 0, recall3 = 0, mrr10 = 0, ndcg10 = 0 } = ranked[method][kind] ?? {}
      const interval = intervalText({ hits: Math.round(recall3 * n), n })
      const numbers = [recall1, recall3].map((value) => value.toFixed(3)).join('     ')
      const others = [mrr10, ndcg10].map((value) => value.toFixed(3)).join('    ')
      return `${kind.padEnd(15)} ${method.padEnd(9)} ${String(n).padStart(4)}  ${numbers} ${interval}  ${others}`
    }),
  )
  return [
    'Ranking, before any decision',
    `${'kind'.padEnd(15)} ${'method'.padEnd(9)}    n  recall@1  recall@3 ${''.padEnd(13)} MRR@10   nDCG@10`,
    ...rows,
    line('right fix before those of the same error type', pairwise),
    '',
    `Answers (similar from ${thresholds.similar}, same failure from ${thresholds.same})`,
    ...answers.unmatched.flatMap(({ kind, any, same }) => [
      line(`${kind}: any answer`, any),
      line(`${kind}: called same failure`, same),
    ]),
    ...answers.matched.flatMap(({ kind, shown, same }) => [
      line(`${kind}: right fix shown`, shown),
      line(`${kind}: and called same failure`, same),
    ]),
    line('right among all called same failure', answers.samePrecision),
    '',
  ].join('\n')
}

function line(name: string, share: Share): string {
  return `${name.padEnd(48)} ${rate(share).toFixed(3)} ${intervalText(share)}  ${share.hits} of ${share.n}`
}

function intervalText({ hits, n }: Share): string {
  const [low, high] = wilson(hits, n)
  return `[${low.toFixed(2)}, ${high.toFixed(2)}]`
}

function rate({ hits, n }: Share): number {
  return n === 0 ? 0 : hits / n
}

/** The same numbers for programs. */
export function reportJson({ methods, answers, pairwise, thresholds }: Evaluation) {
  return {
    methods,
    answers: {
      ...Object.fromEntries(
        answers.unmatched.map(({ kind, any, same }) => [
          kind,
          { n: any.n, any: rate(any), same: rate(same) },
        ]),
      ),
      ...Object.fromEntries(
        answers.matched.map(({ kind, shown, same }) => [
          kind,
          { n: shown.n, shown: rate(shown), same: rate(same) },
        ]),
      ),
      same_precision: rate(answers.samePrecision),
      pairwise: { n: pairwise.n, right: rate(pairwise) },
      thresholds,
    },
  }
}
