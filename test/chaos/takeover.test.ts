import { describe, expect, it } from 'vitest'
import { at, healthyRun } from './healthy-run.ts'
import { medianOf, takeoverSeconds } from './takeover.ts'

const run = healthyRun()
/** A fault at that second of the run. */
const faultAt = (seconds: number, runs = [run.run_id]) => ({
  name: 'kill redis',
  victim: 'redis' as const,
  at: Date.parse(at(seconds)),
  until: Date.parse(at(seconds)),
  runs,
})

describe('the time to take over', () => {
  it('lasts from a fault to the next entry in the journal of each run that it hit', () => {
    expect(takeoverSeconds([faultAt(12), faultAt(41)], [run])).toEqual([8, 9])
  })

  it('is not measured of runs that were not hit, had not begun or had ended', () => {
    expect(takeoverSeconds([faultAt(12, ['another'])], [run])).toEqual([])
    expect(takeoverSeconds([faultAt(-1), faultAt(61)], [run])).toEqual([])
  })

  it('has the lower middle value as its median, and none when there is nothing', () => {
    expect(medianOf([5, 1, 3])).toBe(3)
    expect(medianOf([4, 1, 3, 2])).toBe(2)
    expect(medianOf([])).toBeNull()
  })
})
