import { describe, it } from 'vitest'
import { fillRedis, freeze, pidOf } from '../chaos/faults.ts'
import { startFaultedRun } from './faulted-run.ts'

/** Longer than a worker's lock on its job, and than the ledger's commands may take. */
const HUNG_MS = 15_000
/** Longer than all tries of a job together, so that no number of retries gets over it. */
const FULL_MS = 8_000
const LIMIT_MS = 320_000

const moments = [/^request 2$/, /run_tests/]

describe('a Redis that is there and does nothing', () => {
  it.concurrent.for(moments)(
    'holds a run up that it hit at %s, for as long as it hangs, and loses nothing of it',
    { timeout: LIMIT_MS },
    async (moment, { expect, onTestFinished }) => {
      const run = await startFaultedRun()
      onTestFinished(() => run.remove())
      await run.event(moment)
      const from = Date.now()
      await freeze(run.session, await pidOf(run.session, 'redis'), HUNG_MS)
      run.injected('redis', from)
      expect((await run.end()).problems).toEqual([])
    },
  )
})

describe('a Redis that is full', () => {
  it.concurrent.for(moments)(
    'ends no run that it hit at %s: it goes on when there is room again',
    { timeout: LIMIT_MS },
    async (moment, { expect, onTestFinished }) => {
      const run = await startFaultedRun()
      onTestFinished(() => run.remove())
      await run.event(moment)
      const from = Date.now()
      await fillRedis(run.session, FULL_MS)
      run.injected('redis', from)
      expect((await run.end()).problems).toEqual([])
    },
  )
})
