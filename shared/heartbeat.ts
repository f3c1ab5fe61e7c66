import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { catalog, type QueueName } from './contracts/catalog.ts'
import { errorText } from './errors.ts'
import type { Logger } from './logger.ts'
import { productVersion } from './product-version.ts'
import { KEY_PREFIX } from './queue/connection.ts'
import { workInHand } from './queue/work-in-hand.ts'

const BEAT_EVERY_MS = 5_000
/** A process that has not said anything for so long counts as gone: two beats may be lost. */
const GONE_AFTER_MS = 16_000

const queueNames = Object.keys(catalog) as [QueueName, ...QueueName[]]

export const heartbeatSchema = z.object({
  service: z.string(),
  host: z.string(),
  pid: z.number().int(),
  started_at: z.iso.datetime(),
  version: z.string(),
  /** By queue: how many jobs this process takes at once, and how many it has in hand. */
  queues: z.partialRecord(
    z.enum(queueNames),
    z.object({ concurrency: z.number().int(), in_hand: z.number().int() }),
  ),
})
export type Heartbeat = z.infer<typeof heartbeatSchema>

/** Set: the ids of all processes that may be there. Those without a key of their own have gone. */
const idsKey = `${KEY_PREFIX}:heartbeats`
const beatKey = (id: string) => `${KEY_PREFIX}:heartbeat:${id}`

/**
 * Says every 5 s that this process is there; while Redis is away it only looks gone. `stop` takes it
 * off the list.
 */
export function startHeartbeat(
  service: string,
  redis: Redis,
  log: Logger,
): { stop(): Promise<void> } {
  const id = randomUUID()
  const own = { service, host: hostname(), pid: process.pid, version: productVersion() }
  const started_at = new Date(Date.now() - process.uptime() * 1000).toISOString()
  let current: Promise<void> | undefined

  async function beat(): Promise<void> {
    const text = JSON.stringify({ ...own, started_at, queues: workInHand() } satisfies Heartbeat)
    try {
      await redis.multi().set(beatKey(id), text, 'PX', GONE_AFTER_MS).sadd(idsKey, id).exec()
    } catch (error) {
      log.debug({ error: errorText(error) }, 'heartbeat not written')
    }
  }
  const next = () => {
    current ??= beat().finally(() => {
      current = undefined
    })
  }
  next()
  const timer = setInterval(next, BEAT_EVERY_MS).unref()

  return {
    async stop() {
      clearInterval(timer)
      // A beat that is under way would put the process back on the list.
      await current
      try {
        await redis.multi().del(beatKey(id)).srem(idsKey, id).exec()
      } catch (error) {
        log.debug({ error: errorText(error) }, 'heartbeat not removed; it expires')
      }
    },
  }
}

/** The processes that are there, by service, the oldest first. Forgets those that are not. */
export async function listHeartbeats(redis: Redis): Promise<Heartbeat[]> {
  const ids = await redis.smembers(idsKey)
  if (ids.length === 0) return []
  const texts = await redis.mget(ids.map(beatKey))
  const gone = ids.filter((_, i) => texts[i] === null)
  // One that is only late puts itself back with its next beat.
  if (gone.length > 0) await redis.srem(idsKey, gone)
  return texts
    .flatMap((text) => (text === null ? [] : [readHeartbeat(text)]))
    .filter((beat) => beat !== null)
    .sort((a, b) => orderOf(a).localeCompare(orderOf(b)))
}

/** Null for one of another version that says it otherwise: it must not hide all the others. */
function readHeartbeat(text: string): Heartbeat | null {
  const parsed = heartbeatSchema.safeParse(JSON.parse(text))
  return parsed.success ? parsed.data : null
}

const orderOf = ({ service, started_at, pid }: Heartbeat) => `${service} ${started_at} ${pid}`
