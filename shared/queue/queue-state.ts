import { QueueKeys } from 'bullmq'
import type { Redis } from 'ioredis'
import { catalog, type QueueName } from '../contracts/catalog.ts'
import { KEY_PREFIX } from './connection.ts'

/** `waiting`: those that a worker could take now. `parents` wait for their children. */
export type QueueState = {
  queue: QueueName
  waiting: number
  active: number
  delayed: number
  parents: number
  completed: number
  failed: number
  /** Since when the oldest of the waiting jobs could be taken; null when none waits. */
  oldest_waiting_at: string | null
}

/** What stands in every queue, without any of it being touched. */
export async function readQueueStates(redis: Redis): Promise<QueueState[]> {
  const names = Object.keys(catalog) as QueueName[]
  return Promise.all(names.map((name) => readQueueState(redis, name)))
}

const keys = new QueueKeys(KEY_PREFIX)

async function readQueueState(redis: Redis, queue: QueueName): Promise<QueueState> {
  const key = (type: string) => keys.toKey(queue, type)
  const [wait, prioritized, active, delayed, parents, completed, failed] = await Promise.all([
    redis.llen(key('wait')),
    redis.zcard(key('prioritized')),
    redis.llen(key('active')),
    redis.zcard(key('delayed')),
    redis.zcard(key('waiting-children')),
    redis.zcard(key('completed')),
    redis.zcard(key('failed')),
  ])
  const oldest = wait + prioritized === 0 ? null : await oldestWaiting(redis, key)
  const oldest_waiting_at = oldest === null ? null : new Date(oldest).toISOString()
  return {
    queue,
    waiting: wait + prioritized,
    active,
    delayed,
    parents,
    completed,
    failed,
    oldest_waiting_at,
  }
}

/** So many of the next jobs by priority are looked at: a longer queue is late anyhow. */
const LOOKED_AT = 1000
/** Below it, a prioritized job's score counts the jobs as they came. */
const PRIORITY_UNIT = 0x100000000

async function oldestWaiting(redis: Redis, key: (type: string) => string): Promise<number | null> {
  const [last, scored] = await Promise.all([
    redis.lindex(key('wait'), -1),
    redis.zrangebyscore(key('prioritized'), '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, LOOKED_AT),
  ])
  const arrival = (at: number) => Number(scored[at + 1]) % PRIORITY_UNIT
  let first = 0
  for (let at = 2; at < scored.length; at += 2) if (arrival(at) < arrival(first)) first = at
  const ids = [last, scored[first]].filter((id) => id !== null && id !== undefined)
  const times = await Promise.all(
    ids.map(async (id) => {
      const [timestamp, delay] = await redis.hmget(key(id), 'timestamp', 'delay')
      return Number(timestamp) + Number(delay ?? 0)
    }),
  )
  // A job that was taken meanwhile, and removed, has no time.
  const known = times.filter((time) => time > 0)
  return known.length === 0 ? null : Math.min(...known)
}
