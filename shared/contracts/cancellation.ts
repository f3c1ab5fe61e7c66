import type { Redis } from 'ioredis'
import { KEY_PREFIX } from '../queue/connection.ts'

/** As long as the journal of an ended run: a queued run must not outlive its mark. */
const KEEP_SECONDS = 30 * 24 * 3600

export const cancelledKey = (runId: string) => `${KEY_PREFIX}:run:${runId}:cancelled`

/** The ids of cancelled runs. Messages can be lost: whoever listens looks at the marks besides. */
export const cancelledChannel = `${KEY_PREFIX}:cancelled`

/**
 * Marks a run as cancelled and tells those who run its tests. The mark comes before everything else:
 * who sees the run's tests stopped can also see why.
 */
export async function markCancelled(redis: Redis, runId: string): Promise<void> {
  await redis
    .multi()
    .set(cancelledKey(runId), new Date().toISOString(), 'EX', KEEP_SECONDS, 'NX')
    .publish(cancelledChannel, runId)
    .exec()
}

export async function isMarkedCancelled(redis: Redis, runId: string): Promise<boolean> {
  return (await redis.exists(cancelledKey(runId))) === 1
}
