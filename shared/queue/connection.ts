import { Redis } from 'ioredis'

/** One hash tag, so that every key of the system lands in one slot of a Redis Cluster. */
export const KEY_PREFIX = '{astra}'

/** Where Redis is: a URL, or the path of a unix socket. */
export type RedisAddress = { url: string } | { path: string }

/**
 * A connection that waits for Redis through restarts, as workers need it. Commands queue up while
 * Redis is away; callers that must not wait use `connectOrFail`.
 */
export function connect(address: RedisAddress): Redis {
  const options = { maxRetriesPerRequest: null, retryStrategy: backoffMs }
  return 'url' in address ? new Redis(address.url, options) : new Redis({ ...options, ...address })
}

/**
 * A connection for a command that somebody waits for: it fails within seconds when Redis is away,
 * or within `waitMs` when Redis may still be starting.
 */
export function connectOrFail(address: RedisAddress, options: { waitMs?: number } = {}): Redis {
  const waitMs = options.waitMs ?? 5000
  const settings = {
    maxRetriesPerRequest: Math.ceil(waitMs / 200),
    connectTimeout: 3000,
    commandTimeout: waitMs,
    retryStrategy: () => 100,
  }
  return 'url' in address
    ? new Redis(address.url, settings)
    : new Redis({ ...settings, ...address })
}

/** Milliseconds before reconnect number `attempt`: quick at first, never more than 2 s. */
function backoffMs(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt, 6), 2000)
}
