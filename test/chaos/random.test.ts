import { describe, expect, it } from 'vitest'
import { nextFault } from './faults.ts'
import { createRandom } from './random.ts'

describe('the plan of a seed', () => {
  const plan = (seed: number) => {
    const random = createRandom(seed)
    return Array.from({ length: 200 }, () => nextFault(random))
  }

  it('is the same each time, and another one for another seed', () => {
    expect(plan(7)).toEqual(plan(7))
    expect(plan(7)).not.toEqual(plan(8))
  })

  it('has every kind of fault in it before long', () => {
    const kinds = new Set(plan(7).map(({ kind, victim }) => `${kind} ${victim}`))
    expect([...kinds].sort()).toEqual([
      'fill redis',
      'freeze agent-runner',
      'freeze redis',
      'kill agent-runner',
      'kill embedder',
      'kill memory-store',
      'kill offline-model',
      'kill redis',
      'kill supervisor',
      'kill test-runner',
    ])
  })
})
