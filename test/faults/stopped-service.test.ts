import { setTimeout as delay } from 'node:timers/promises'
import { describe, it } from 'vitest'
import { pidOf } from '../chaos/faults.ts'
import { signalOwn } from '../chaos/processes.ts'
import { takeoverSeconds } from '../chaos/takeover.ts'
import { type FaultedRun, startFaultedRun } from './faulted-run.ts'

/** A job that nobody hands back is taken over when its lock has expired, after 10 s or more. */
const SOONER_THAN_A_STALL_S = 9.5
/** So long do the tests hang: longer than a test-runner waits for them when it is told to stop. */
const SLOW_MS = 16_000
const LIMIT_MS = 320_000

describe('a service that is told to stop in the middle of its work', () => {
  it.concurrent.for([/^request 2$/, /^request 4$/])(
    'agent-runner at %s: its successor goes on at once, and no request is sent again',
    { timeout: LIMIT_MS },
    async (moment, { expect, onTestFinished }) => {
      const run = await startFaultedRun()
      onTestFinished(() => run.remove())
      await run.event(moment)
      const pid = await pidOf(run.session, 'agent-runner')
      const from = Date.now()
      signalOwn(run.session.astra, pid, 'SIGTERM')
      const stop = run.injected('agent-runner', from)
      const { run: seen, problems } = await run.end()
      expect(problems).toEqual([])
      expect(seen.journal.sent.size).toBe(seen.journal.responses.size)
      const [seconds] = takeoverSeconds([stop], [seen])
      expect(seconds).toBeLessThan(SOONER_THAN_A_STALL_S)
    },
  )

  it.concurrent('test-runner: tests that do not end in time are given to its successor', {
    timeout: LIMIT_MS,
  }, async ({ expect, onTestFinished }) => {
    const run = await startFaultedRun(SLOW_MS)
    onTestFinished(() => run.remove())
    const first = await baselineBegun(run, 0)
    const from = Date.now()
    signalOwn(run.session.astra, await pidOf(run.session, 'test-runner'), 'SIGTERM')
    const second = await baselineBegun(run, first)
    run.injected('test-runner', from)
    expect((second - from) / 1000).toBeLessThan(SOONER_THAN_A_STALL_S)
    expect((await run.end()).problems).toEqual([])
  })
})

/** When a test-runner took the baseline job, later than `after`; epoch milliseconds. */
async function baselineBegun({ session }: FaultedRun, after: number): Promise<number> {
  for (;;) {
    const [job] = await session.producer.queue('tests').getActive()
    if (job?.processedOn && job.processedOn > after) return job.processedOn
    await delay(50, undefined, { signal: session.signal })
  }
}
