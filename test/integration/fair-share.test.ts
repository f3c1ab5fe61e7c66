import type { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunPriority } from '../../shared/contracts/run.ts'
import { connect, KEY_PREFIX } from '../../shared/queue/connection.ts'
import { type Consumer, consume, type JobContext } from '../../shared/queue/consumer.ts'
import { createProducer, type Producer } from '../../shared/queue/producer.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

let server: TestRedis
let redis: Redis
let producer: Producer
let consumers: Consumer[]

const silent = pino({ level: 'silent' })

beforeEach(async () => {
  server = await startRedis()
  redis = connect(server.address)
  producer = createProducer(redis)
  consumers = []
})
afterEach(async () => {
  await Promise.all(consumers.map((consumer) => consumer.close(1000)))
  await producer.close()
  redis.disconnect()
  await server.stop()
})

const clock = (priority: RunPriority = 'normal') => `${KEY_PREFIX}:share:tests:${priority}`
const payload = { run_id: 'run-a', path_env: '', command: null }

/** Adds a job of that repository as the agent-runner does; its id is `NAME-N`. */
async function add(name: string, n: number, priority: RunPriority = 'normal'): Promise<void> {
  await producer.add('tests', 'baseline', payload, {
    jobId: `${name}-${n}`,
    priority: await producer.fairPriority('tests', { repositoryId: name, priority }),
  })
}

async function addMany(name: string, count: number, priority?: RunPriority, from = 1) {
  const numbers = Array.from({ length: count }, (_, index) => from + index)
  // Some at a time, as several producers would.
  while (numbers.length > 0) {
    await Promise.all(numbers.splice(0, 50).map((n) => add(name, n, priority)))
  }
}

const noTests = { kind: 'unusable', reason: 'no_tests_found', message: '', output: '' } as const

/** Takes jobs as a test-runner does, tells each as it ends, and resolves when `count` were done. */
function work(
  count: number,
  onJob: (done: string[]) => Promise<void> | void = () => {},
  concurrency = 1,
): Promise<string[]> {
  const done: string[] = []
  return new Promise((resolve) => {
    const baseline = async (_payload: unknown, { jobId }: JobContext) => {
      done.push(jobId)
      await onJob(done)
      if (done.length === count) resolve(done)
      return noTests
    }
    const neverAdded = () => Promise.reject(new Error('no such job was added'))
    const handlers = { baseline, run: neverAdded, verify: neverAdded }
    consumers.push(consume('tests', handlers, { redis, log: silent, concurrency }))
  })
}

const of = (name: string, ids: string[]) => ids.filter((id) => id.startsWith(`${name}-`))

describe('a fair share for each repository', () => {
  it('lets 10 late jobs of one repository through 1,000 queued jobs of another', async () => {
    await addMany('a', 1000)
    let addedAfter = 0
    const order = await work(1010, async (done) => {
      if (done.length !== 300 || addedAfter > 0) return
      addedAfter = done.length
      await addMany('b', 10)
    })
    const lastOfB = order.findLastIndex((id) => id.startsWith('b-'))
    expect(of('b', order)).toHaveLength(10)
    expect(lastOfB - addedAfter).toBeLessThanOrEqual(25)
  })

  it('gives three repositories with work waiting the same share', async () => {
    await addMany('a', 600)
    await addMany('b', 300)
    await addMany('c', 200)
    const order = await work(1100, () => {}, 2)
    const shares = ['a', 'b', 'c'].map((name) => of(name, order.slice(0, 600)).length)
    for (const share of shares) expect(Math.abs(share - 200)).toBeLessThanOrEqual(20)
  })

  it('keeps the order of a repository’s own jobs', async () => {
    for (let n = 1; n <= 40; n += 1) {
      await add('a', n)
      if (n % 2 === 0) await add('b', n / 2)
    }
    const order = await work(60)
    const numbers = (name: string) => of(name, order).map((id) => Number(id.slice(2)))
    expect(numbers('a')).toEqual(numbers('a').toSorted((x, y) => x - y))
    expect(numbers('b')).toEqual(numbers('b').toSorted((x, y) => x - y))
  })

  it('gives no credit for time in which a repository had nothing to do', async () => {
    await addMany('a', 400)
    let added = false
    const order = await work(800, async (done) => {
      if (done.length !== 200 || added) return
      added = true
      await addMany('b', 400)
    })
    // From then on they alternate, although b has had nothing of the first 200.
    const next = order.slice(201, 401)
    expect(Math.abs(of('a', next).length - 100)).toBeLessThanOrEqual(10)
  })

  it('serves high before normal before low, fairly within each', async () => {
    await addMany('a', 30, 'low')
    await addMany('b', 30, 'normal')
    await addMany('a', 20, 'high', 31)
    await addMany('c', 10, 'high')
    const order = await work(90)
    expect(of('b', order.slice(30, 60))).toHaveLength(30)
    expect(of('c', order.slice(0, 22))).toHaveLength(10)
  })

  it('begins anew when nothing waits and all was taken', async () => {
    await addMany('a', 20)
    await work(20)
    expect(Number(await redis.hget(clock(), 'now'))).toBe(20)
    await add('b', 1)
    expect(await redis.hgetall(`${clock()}:last`)).toEqual({ b: '1' })
  })

  it('gives jobs that are added at once different turns, also while the queue is empty', async () => {
    const share = { repositoryId: 'a', priority: 'normal' as const }
    const given = await Promise.all(
      Array.from({ length: 100 }, () => producer.fairPriority('tests', share)),
    )
    expect(new Set(given).size).toBe(100)
  })

  it('takes a job that has to be tried again before all that came later', async () => {
    await addMany('a', 30)
    const order = await work(61, async (done) => {
      if (done.length === 20) await addMany('b', 30)
      if (done.length === 21) throw new Error('a fault that the next try does not meet')
      // Not the test's to wait for: how long a failed job rests.
      if (done.length === 22)
        await (await producer.queue('tests').getJob(done[20] ?? ''))?.promote()
    })
    expect(order[22]).toBe(order[20])
  })
})

/** The lowest priority of the class `normal`, and how many tags it has. */
const FIRST = 699_051
const LAST_TAG = 699_049

describe('the turns of a queue that is never idle', () => {
  /** As after `now` turns without an idle moment, the last of which is not taken yet. */
  async function afterTurns(now: number): Promise<void> {
    await redis.hset(clock(), { now, latest: now + 1 })
  }
  const tags = async (name: string) => {
    const jobs = await producer.queue('tests').getPrioritized()
    return jobs.filter((job) => job.id?.startsWith(`${name}-`)).map((job) => job.priority - FIRST)
  }

  it('begin anew before the priorities end, and all that waits keeps its place', async () => {
    await afterTurns(LAST_TAG - 60)
    await addMany('a', 50)
    await addMany('b', 20)
    expect(Math.max(...(await tags('a')))).toBeLessThan(LAST_TAG)
    await addMany('a', 50, 'normal', 51)
    await add('c', 1)
    expect(await tags('a')).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
    expect(await tags('b')).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    const order = await work(121)
    expect(of('b', order.slice(0, 43))).toHaveLength(20)
    expect(of('a', order)).toEqual(Array.from({ length: 100 }, (_, index) => `a-${index + 1}`))
  })

  it('are not mixed up by a job whose turn was given out before and that came after', async () => {
    await afterTurns(LAST_TAG - 1)
    const late = { repositoryId: 'b', priority: 'normal' as const }
    const priority = await producer.fairPriority('tests', late)
    await addMany('a', 100)
    await producer.add('tests', 'baseline', payload, { jobId: 'b-1', priority })
    const order = await work(101)
    expect(order.indexOf('b-1')).toBeLessThanOrEqual(2)
    expect(of('a', order)).toEqual(Array.from({ length: 100 }, (_, index) => `a-${index + 1}`))
  })

  it('never pass the end of their class, also with more waiting than it has turns', async () => {
    await add('low', 1, 'low')
    await add('a', 1)
    await redis.hset(`${clock()}:last`, 'a', LAST_TAG - 2)
    await addMany('a', 10, 'normal', 2)
    await addMany('b', 3)
    const order = await work(15)
    expect(of('b', order.slice(0, 7))).toHaveLength(3)
    expect(of('a', order)).toEqual(Array.from({ length: 11 }, (_, index) => `a-${index + 1}`))
    expect(order.at(-1)).toBe('low-1')
  })

  it('go on where they were when the clock was lost', async () => {
    await addMany('a', 30)
    await redis.del(clock(), `${clock()}:last`)
    await addMany('b', 3)
    const order = await work(33)
    expect(of('b', order.slice(0, 7))).toHaveLength(3)
    expect(of('a', order)).toHaveLength(30)
  })
})
