import { ordinaryFailures } from './background.ts'
import type { TextProfile } from './text-profile.ts'

/** How much a stem tells: the rarer, the more (the idf of BM25). */
export type WordWeight = (stem: string) => number

const common = frequencies(ordinaryFailures)

/** Rarity among the texts compared and among ordinary failures. */
export function wordWeights(pool: readonly TextProfile[]): WordWeight {
  const documents = ordinaryFailures.length + pool.length
  const here = frequencies(pool)
  const weights = new Map<string, number>()
  return (stem) => {
    const known = weights.get(stem)
    if (known !== undefined) return known
    const n = (common.get(stem) ?? 0) + (here.get(stem) ?? 0)
    const weight = Math.log(1 + (documents - n + 0.5) / (n + 0.5))
    weights.set(stem, weight)
    return weight
  }
}

function frequencies(texts: readonly TextProfile[]): Map<string, number> {
  const frequency = new Map<string, number>()
  for (const { stems } of texts) {
    for (const stem of stems.keys()) frequency.set(stem, (frequency.get(stem) ?? 0) + 1)
  }
  return frequency
}
