/** Everything that chance decides comes from here, so that a seed repeats a plan. */
export type Random = {
  /** At least `min`, less than `max`. */
  between(min: number, max: number): number
  pick<T>(items: readonly T[]): T
  /** One of the items, each as often as its weight says. */
  weighted<T>(items: readonly (readonly [T, number])[]): T
}

/** The mulberry32 generator: 32 bits of state are plenty for a plan of faults. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const random: Random = {
    between: (min, max) => min + next() * (max - min),
    pick: (items) => random.weighted(items.map((item) => [item, 1])),
    weighted(items) {
      const total = items.reduce((sum, [, weight]) => sum + weight, 0)
      let left = next() * total
      for (const [item, weight] of items) {
        left -= weight
        if (left < 0) return item
      }
      throw new RangeError('nothing to choose from')
    },
  }
  return random
}
