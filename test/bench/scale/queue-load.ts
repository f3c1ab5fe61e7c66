import { setTimeout as delay } from 'node:timers/promises'
import type { QueueName } from '../../../shared/contracts/catalog.ts'
import type { Session } from '../../chaos/session.ts'

const SAMPLE_MS = 50

/** Jobs on average over the time: in hand, and waiting for a process that has room. */
export type QueueLoad = { active: number; waiting: number }

/** Does the work and says how the queue was meanwhile. */
export async function withQueueLoad<T>(
  { producer }: Session,
  name: QueueName,
  work: () => Promise<T>,
): Promise<{ result: T; load: QueueLoad }> {
  const queue = producer.queue(name)
  const over = new AbortController()
  const sampled = (async () => {
    const sum = { active: 0, waiting: 0 }
    let samples = 0
    for (; !over.signal.aborted; samples += 1) {
      const counts = await queue.getJobCounts('active', 'waiting', 'prioritized')
      sum.active += counts.active ?? 0
      sum.waiting += (counts.waiting ?? 0) + (counts.prioritized ?? 0)
      await delay(SAMPLE_MS, undefined, { signal: over.signal }).catch(() => {})
    }
    return { active: sum.active / samples, waiting: sum.waiting / samples }
  })()
  try {
    const result = await work()
    over.abort()
    return { result, load: await sampled }
  } finally {
    over.abort()
  }
}
