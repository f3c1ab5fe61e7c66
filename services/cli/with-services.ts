import type { Redis } from 'ioredis'
import type { Config } from '../../shared/config.ts'
import { type Scale, UNSAFE_FLAG } from '../../shared/contracts/supervisor.ts'
import { UnavailableError, UsageError } from '../../shared/errors.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, type Producer } from '../../shared/queue/producer.ts'
import { holdSupervisor, supervisorStatus } from '../../shared/supervisor-client.ts'
import type { CliContext } from './context.ts'
import { unlessAborted } from './interrupt.ts'

export type Services = {
  config: Config
  redis: Redis
  producer: Producer
  /** Aborts at Ctrl-C. */
  interrupted: AbortSignal
}

export type ServiceHost = Pick<CliContext, 'env' | 'interrupted'> & {
  /** Services that are started are to run tests with the person's rights. */
  unsafeNoSandbox?: boolean
  /** How many processes of a service there are to be. */
  processes?: Scale
}

/**
 * Runs `use` while the services of this ASTRA_HOME are up: they are started when they are not, and
 * stop afterwards unless someone else holds them. Throws UnavailableError when they do not start,
 * InterruptError after Ctrl-C.
 */
export async function withServices<T>(
  config: Config,
  { env, interrupted, unsafeNoSandbox = false, processes = {} }: ServiceHost,
  onProgress: (line: string) => void,
  use: (services: Services) => Promise<T>,
): Promise<T> {
  // A Redis of the person's own is asked first: services would wait for it without an end.
  if ('url' in config.redis) (await connectToRedis(config)).disconnect()
  const holding = holdSupervisor(config, { env, onProgress, unsafeNoSandbox, processes })
  try {
    await unlessAborted(holding, interrupted)
    if (unsafeNoSandbox) await requireNoSandbox(config)
    return await withRedis(config, interrupted, use)
  } finally {
    // Also after a Ctrl-C while they start: what was begun has to be stopped.
    await holding.then(
      (lease) => lease.release(),
      () => {},
    )
  }
}

/** Running services keep what they were started with, and a person has to know which it is. */
async function requireNoSandbox(config: Config): Promise<void> {
  if (!(await supervisorStatus(config))?.sandbox) return
  throw new UsageError('the services run already, with a sandbox', {
    hint: `end the commands that use them, such as \`astra up\`, then give ${UNSAFE_FLAG} again`,
  })
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
