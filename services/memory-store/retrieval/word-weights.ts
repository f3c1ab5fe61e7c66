import background from './background.json' with { type: 'json' }
import type { TextProfile } from './text-profile.ts'

/** How much a stem tells: the rarer, the more (the idf of BM25). */
export type WordWeight = (stem: string) => number

const common = new Map<string, number>(Object.entries(background.frequency))

/** Terms of a record in the mean; BM25 counts a word in a long text for less. */
export const AVERAGE_LENGTH: number = background.averageLength

/**
 * Rarity among the texts compared and among a hundred failures of all kinds: a memory of three
 * records does not know by itself that "passed" is no rare word.
 */
export function wordWeights(pool: readonly Pick<TextProfile, 'stems'>[]): WordWeight {
  const documents = background.documents + pool.length
  const frequency = new Map<string, number>()
  for (const { stems } of pool) {
    for (const stem of stems.keys()) frequency.set(stem, (frequency.get(stem) ?? 0) + 1)
  }
  return (stem) => {
    const n = (common.get(stem) ?? 0) + (frequency.get(stem) ?? 0)
    return Math.log(1 + (documents - n + 0.5) / (n + 0.5))
  }
}
