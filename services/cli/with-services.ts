import type { Redis } from 'ioredis'
import type { Config } from '../../shared/config.ts'
import { UnavailableError } from '../../shared/errors.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, type Producer } from '../../shared/queue/producer.ts'
import { holdSupervisor } from '../../shared/supervisor-client.ts'
import type { CliContext } from './context.ts'
import { unlessAborted } from './interrupt.ts'

export type Services = {
  config: Config
  redis: Redis
  producer: Producer
  /** Aborts at Ctrl-C. */
  interrupted: AbortSignal
}

/**
 * Runs `use` while the services of this ASTRA_HOME are up: they are started when they are not, and
 * stop afterwards unless someone else holds them. Throws UnavailableError when they do not start,
 * InterruptError after Ctrl-C.
 */
export async function withServices<T>(
  config: Config,
  { env, interrupted }: Pick<CliContext, 'env' | 'interrupted'>,
  onProgress: (line: string) => void,
  use: (services: Services) => Promise<T>,
): Promise<T> {
  // A Redis of the person's own is asked first: services would wait for it without an end.
  if ('url' in config.redis) (await connectToRedis(config)).disconnect()
  const holding = holdSupervisor(config, { env, onProgress })
  try {
    await unlessAborted(holding, interrupted)
    return await withRedis(config, interrupted, use)
  } finally {
    // Also after a Ctrl-C while they start: what was begun has to be stopped.
    await holding.then(
      (lease) => lease.release(),
      () => {},
    )
  }
}

async function withRedis<T>(
  config: Config,
  interrupted: AbortSignal,
  use: (services: Services) => Promise<T>,
): Promise<T> {
  const redis = await connectToRedis(config)
  const producer = createProducer(redis)
  try {
    return await unlessAborted(use({ config, redis, producer, interrupted }), interrupted)
  } finally {
    await producer.close()
    redis.disconnect()
  }
}

/** A connection that has answered once. Throws UnavailableError that names the address. */
export async function connectToRedis(config: Config): Promise<Redis> {
  const redis = connectOrFail(config.redis)
  // Without a listener ioredis prints every failed attempt; the failed ping below tells it once.
  redis.on('error', () => {})
  try {
    await redis.ping()
    return redis
  } catch (cause) {
    redis.disconnect()
    throw new UnavailableError(`Redis does not answer at ${addressText(config)}`, {
      hint: 'is it running, and is REDIS_URL right? `astra doctor` checks it',
      cause,
    })
  }
}

/** Where Redis is, without a password. */
export function addressText({ redis }: Config): string {
  if ('path' in redis) return redis.path
  const url = new URL(redis.url)
  return `${url.protocol}//${url.host}${url.pathname}`
}
