import { setTimeout as delay } from 'node:timers/promises'
import type { Job } from 'bullmq'
import { describe, it } from 'vitest'
import { type FaultedRun, startFaultedRun } from './faulted-run.ts'

const LIMIT_MS = 320_000

describe('a wake that was lost', () => {
  it('is made up for by the sweeper', { timeout: LIMIT_MS }, async ({ expect, onTestFinished }) => {
    const run = await startFaultedRun()
    onTestFinished(() => run.remove())
    const queue = run.session.producer.queue('runs')
    await run.event(/./)
    await queue.pause()
    await (await heldWake(run)).remove()
    await queue.removeDeduplicationKey(run.runId)
    expect(await queue.getDeduplicationJobId(run.runId)).toBeNull()
    await queue.resume()
    expect((await run.end()).problems).toEqual([])
  })

  it.concurrent('is made up for also while its deduplication id is still taken', {
    timeout: LIMIT_MS,
  }, async ({ expect, onTestFinished }) => {
    const run = await startFaultedRun()
    onTestFinished(() => run.remove())
    const { session, runId } = run
    const queue = session.producer.queue('runs')
    await run.event(/./)
    await queue.pause()
    const wake = await heldWake(run)
    await wake.remove()
    await session.redis.set(queue.toKey(`de:${runId}`), wake.id ?? '')
    expect(await queue.getDeduplicationJobId(runId)).toBe(wake.id)
    await queue.resume()
    expect((await run.end()).problems).toEqual([])
  })
})

/** The wake that the baseline's delivery adds; the queue is paused, so nobody takes it. */
async function heldWake({ session, runId }: FaultedRun): Promise<Job> {
  const queue = session.producer.queue('runs')
  for (;;) {
    const waiting = await queue.getJobs(['waiting', 'prioritized'])
    const wake = waiting.find((job) => job?.name === 'wake' && job.data.run_id === runId)
    if (wake) return wake
    await delay(20, undefined, { signal: session.signal })
  }
}
