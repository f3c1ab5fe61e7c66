import { startHeartbeat } from './heartbeat.ts'
import type { Logger } from './logger.ts'
import { startFlushing } from './metrics.ts'
import { connectOrFail, type RedisAddress } from './queue/connection.ts'

/** How long one report may wait for Redis, and so how long a clean end may be held up by each. */
const WAIT_MS = 1_000

/**
 * What a service process tells of itself as long as it runs: its heartbeat and its counts. On a
 * connection of its own, so that nothing of this can hold a job up.
 */
export function startReporting(
  service: string,
  address: RedisAddress,
  log: Logger,
): { stop(): Promise<void> } {
  const redis = connectOrFail(address, { waitMs: WAIT_MS })
  redis.on('error', (error) => log.debug({ err: error }, 'no connection for reports'))
  const heartbeat = startHeartbeat(service, redis, log)
  const counts = startFlushing(redis, log)
  return {
    async stop() {
      await Promise.all([heartbeat.stop(), counts.stop()])
      redis.disconnect()
    },
  }
}
