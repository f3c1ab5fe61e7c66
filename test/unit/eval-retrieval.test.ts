import { describe, expect, it } from 'vitest'
import { pairwise } from '../eval/evaluate.ts'
import { solve } from '../eval/fit/linear-algebra.ts'
import { fitListwise, fitLogistic } from '../eval/fit/regression.ts'
import { rankMetrics, wilson } from '../eval/metrics.ts'

const query = {
  id: 'q',
  kind: 'transfer' as const,
  query: 'text',
  error_type: null,
  relevant: ['a', 'b'],
  graded: { a: 2, b: 2, c: 1 },
}

describe('the metrics', () => {
  it('are those of the ranking, counted by hand', () => {
    const metrics = rankMetrics([{ query, ids: ['x', 'a', 'c', 'y', 'b'] }])
    const gained = 3 / Math.log2(3) + 1 / Math.log2(4) + 3 / Math.log2(6)
    const ideal = 3 + 3 / Math.log2(3) + 1 / Math.log2(4)
    expect(metrics).toEqual({
      n: 1,
      recall1: 0,
      recall3: 0.5,
      mrr10: 0.5,
      ndcg10: expect.closeTo(gained / ideal, 10),
    })
  })

  it('find nothing below the tenth place', () => {
    const ids = [...'0123456789'.split(''), 'a']
    expect(rankMetrics([{ query, ids }])).toMatchObject({ mrr10: 0, ndcg10: 0 })
  })

  it('give an interval that stays within 0 and 1', () => {
    expect(wilson(25, 25)).toEqual([expect.closeTo(0.867, 3), 1])
    expect(wilson(0, 25)).toEqual([0, expect.closeTo(0.133, 3)])
    expect(wilson(5, 10)).toEqual([expect.closeTo(0.237, 3), expect.closeTo(0.763, 3)])
  })

  it('count a pair as right when the right fix is before every sibling', () => {
    const fix = { symptom: '', fix_description: '', file_paths: ['f'] }
    const fixes = [
      { ...fix, id: 'a', error_type: 'T' },
      { ...fix, id: 'b', error_type: 'U' },
      { ...fix, id: 's', error_type: 'T' },
    ]
    const ranked = [['a', 's'], ['s', 'a'], ['b'], ['x']].map((ids) => ({ query, ids }))
    expect(pairwise(ranked, { fixes, queries: [] })).toEqual({ hits: 2, n: 4 })
  })
})

describe('the fit', () => {
  it('solves equations that need their rows changed', () => {
    expect(
      solve(
        [
          [0, 2],
          [4, 1],
        ],
        [6, 11],
      ),
    ).toEqual([2, 3])
  })

  it('finds the log-odds of counted cases', () => {
    const cases = (x: number, right: boolean, count: number) =>
      Array.from({ length: count }, () => ({ x: [x], right, weight: 1 }))
    const rows = [...cases(0, true, 20), ...cases(0, false, 60), ...cases(1, true, 60)]
    const { bias, weights } = fitLogistic([...rows, ...cases(1, false, 20)], 0)
    expect(bias).toBeCloseTo(Math.log(1 / 3), 6)
    expect(weights[0]).toBeCloseTo(2 * Math.log(3), 6)
  })

  it('counts a weight of three as three cases', () => {
    const one = { x: [1], right: true, weight: 1 }
    const none = { x: [0], right: false, weight: 1 }
    const thrice = fitLogistic([{ ...one, weight: 3 }, none], 1)
    expect(thrice.bias).toBeCloseTo(fitLogistic([one, one, one, none], 1).bias, 0)
  })

  it('weighs what tells right from wrong within a list, whatever the level of the list', () => {
    const list = (level: number, [right, wrong]: [number, number]) => [
      { x: [level + right, 5], right: true, weight: 1 },
      { x: [level + wrong, 5], right: false, weight: 1 },
    ]
    const lists = [list(0, [2, 1]), list(100, [3, 2]), list(-50, [1, 2]), list(7, [2, 1])]
    const [telling = 0, constant] = fitListwise(lists, 1e-9)
    expect(telling).toBeCloseTo(Math.log(3), 3)
    expect(constant).toBe(0)
  })
})
