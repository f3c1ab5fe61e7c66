import type { Redis } from 'ioredis'
import { type Blobs, openBlobs } from '../../shared/blobs/blobs.ts'
import type { Config } from '../../shared/config.ts'
import { type Scale, type SupervisorKind, UNSAFE_FLAG } from '../../shared/contracts/supervisor.ts'
import { UnavailableError, UsageError } from '../../shared/errors.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, type Producer } from '../../shared/queue/producer.ts'
import { holdSupervisor, type Lease, supervisorStatus } from '../../shared/supervisor-client.ts'
import type { CliContext } from './context.ts'
import { holdFleet, missingServices } from './hold-fleet.ts'
import { unlessAborted } from './interrupt.ts'

export type Services = {
  config: Config
  redis: Redis
  producer: Producer
  /** What other machines of the fleet are handed; null where there are none. */
  blobs: Blobs | null
  /** Aborts at Ctrl-C. */
  interrupted: AbortSignal
}

export type ServiceHost = Pick<CliContext, 'env' | 'interrupted'> & {
  /** Services that are started are to run tests with the person's rights. */
  unsafeNoSandbox?: boolean
  /** How many processes of a service there are to be. */
  processes?: Scale
  /** This machine is to have services of its own, whatever the fleet has. */
  own?: SupervisorKind
}

/**
 * Runs `use` while there are services: those of the fleet, where REDIS_URL leads to one that has all
 * that a run needs, else those of this ASTRA_HOME. These are started when they are not up, and stop
 * afterwards unless someone else holds them. Throws UnavailableError when they do not start,
 * InterruptError after Ctrl-C.
 */
export async function withServices<T>(
  config: Config,
  host: ServiceHost,
  onProgress: (line: string) => void,
  use: (services: Services) => Promise<T>,
): Promise<T> {
  const { interrupted, unsafeNoSandbox = false } = host
  const holding = holdServices(config, host, onProgress)
  try {
    await unlessAborted(holding, interrupted)
    if (unsafeNoSandbox) await requireNoSandbox(config, host.own)
    return await withRedis(config, interrupted, use)
  } finally {
    // Also after a Ctrl-C while they start: what was begun has to be stopped.
    await holding.then(
      (lease) => lease.release(),
      () => {},
    )
  }
}

async function holdServices(
  config: Config,
  { env, unsafeNoSandbox = false, processes = {}, own }: ServiceHost,
  onProgress: (line: string) => void,
): Promise<Lease> {
  const hold = () =>
    holdSupervisor(config, {
      kind: own ?? 'supervisor',
      env,
      onProgress,
      unsafeNoSandbox,
      processes,
    })
  if (!('url' in config.redis)) return hold()
  // A Redis of the person's own is asked first: services would wait for it without an end.
  const redis = await connectToRedis(config)
  // Ours, where they run, have to be held: they would stop under the run.
  const isFleet =
    !own && !(await supervisorStatus(config)) && (await missingServices(redis)).length === 0
  if (!isFleet || unsafeNoSandbox) {
    redis.disconnect()
    if (isFleet) throw fleetHasSandbox()
    return hold()
  }
  const lease = holdFleet(redis, (missing) => {
    onProgress(`the fleet has no ${missing.join(' and no ')} any more; starting services here`)
    return hold()
  })
  return {
    async release() {
      await lease.release()
      redis.disconnect()
    },
  }
}

/** Running services keep what they were started with, and a person has to know which it is. */
async function requireNoSandbox(config: Config, own?: SupervisorKind): Promise<void> {
  if (!(await supervisorStatus(config, own))?.sandbox) return
  throw new UsageError('the services run already, with a sandbox', {
    hint: `end the commands that use them, such as \`astra up\`, then give ${UNSAFE_FLAG} again`,
  })
}

const fleetHasSandbox = () =>
  new UsageError('the services of a fleet run already, on other machines', {
    hint: `${UNSAFE_FLAG} is said where a test-runner is started: with \`astra up\` there`,
  })

async function withRedis<T>(
  config: Config,
  interrupted: AbortSignal,
  use: (services: Services) => Promise<T>,
): Promise<T> {
  const redis = await connectToRedis(config)
  const producer = createProducer(redis)
  const blobs = openBlobs(config)
  try {
    return await unlessAborted(use({ config, redis, producer, blobs, interrupted }), interrupted)
  } finally {
    await producer.close()
    blobs?.close()
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
