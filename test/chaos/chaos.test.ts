import { describe, expect, it } from 'vitest'
import { crashPoints } from '../../shared/crash-point.ts'
import { chaos, crashGroups } from './chaos.ts'
import { reportOf, reportText } from './report.ts'

/** The first ten faults of this seed kill each process once, and find Redis full and hung. */
const SEED = 1201
/** Installations for the crash points; each death costs the 10 s of a lock there. */
const GROUPS = 4
const LIMIT_MS = 240_000

describe('an installation whose processes die again and again', () => {
  it(
    'ends every run with the same patch, nothing lost and nothing done twice',
    async () => {
      const result = await chaos({
        seed: SEED,
        runs: 6,
        faults: 10,
        crashGroups: crashGroups(GROUPS),
        runsPerGroup: 2,
        lanes: GROUPS + 1,
        signal: AbortSignal.timeout(LIMIT_MS),
        log: () => {},
      })
      const report = reportOf({ seed: SEED }, result)
      expect(report.findings, reportText(report)).toEqual([])
      // Of each installation for crash points one more, in the workspace of its first.
      expect(report.fixed).toBe(GROUPS * 3 + 6)
      expect(Object.keys(report.faults)).toEqual(expect.arrayContaining([...crashPoints]))
    },
    LIMIT_MS + 60_000,
  )
})
