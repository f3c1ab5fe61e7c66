import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMetrics, type Metrics } from '../../services/dashboard/metrics/create-metrics.ts'
import { readConfig } from '../../shared/config.ts'
import { metricsKey } from '../../shared/contracts/metrics.ts'
import { runsIndexKey, runViewKey } from '../../shared/contracts/run-view.ts'
import { createLogger } from '../../shared/logger.ts'
import { count, startFlushing } from '../../shared/metrics.ts'
import { connect, connectOrFail } from '../../shared/queue/connection.ts'
import { type Consumer, consume, JobCancelled, JobPostponed } from '../../shared/queue/consumer.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { sampleOf } from '../support/metrics.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { sampleView } from '../support/run-view.ts'

const log = createLogger('test', 'fatal')
const config = readConfig({ ASTRA_HOME: '/nowhere' })
const vector = Buffer.alloc(384 * 4).toString('base64')

let redis: TestRedis
let client: ReturnType<typeof connectOrFail>
beforeAll(async () => {
  redis = await startRedis()
  client = connectOrFail(redis.address)
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})

const scraper = (now = () => new Date()): Metrics =>
  createMetrics({ redis: client, producer: createProducer(client), config, log, now })

describe('what processes count', () => {
  let consumer: Consumer | undefined
  const workerRedis = () => connectOrFail(redis.address)

  it('reaches the metrics once, with the outcome of every try and in cumulative buckets', async () => {
    const connection = workerRedis()
    connection.options.maxRetriesPerRequest = null
    const begun: string[] = []
    consumer = consume(
      'embeddings',
      {
        async embed({ texts: [text = ''] }, { begunBefore }) {
          begun.push(text)
          if (text === 'broken') throw new Error('broken')
          if (text === 'cancelled') throw new JobCancelled('nobody wants it')
          if (text === 'later' && begunBefore === 0) throw new JobPostponed('away', { delayMs: 1 })
          return { vectors: [vector] }
        },
      },
      { redis: connection, log, concurrency: 1 },
    )
    const producer = createProducer(client)
    for (const text of ['fine', 'fine too', 'broken', 'cancelled', 'later']) {
      await producer.add('embeddings', 'embed', { texts: [text] })
    }
    await expect.poll(() => begun.length).toBe(5 + 2 + 1)
    await consumer.close(1000)
    const flushing = startFlushing(client, log)
    await flushing.stop()
    const again = startFlushing(client, log)
    await again.stop()

    const text = await scraper().text()
    const tries = (outcome: string) =>
      sampleOf(
        text,
        `astra_job_duration_seconds_count{queue="embeddings",job="embed",outcome="${outcome}"}`,
      )
    expect(tries('completed')).toBe(3)
    expect(tries('retried')).toBe(2)
    expect(tries('failed')).toBe(1)
    expect(tries('cancelled')).toBe(1)
    expect(tries('postponed')).toBe(1)
    expect(sampleOf(text, 'astra_job_retries_total{queue="embeddings"}')).toBe(2)
    expect(sampleOf(text, 'astra_job_postponements_total{queue="embeddings"}')).toBe(1)
    expect(sampleOf(text, 'astra_job_postponements_total{queue="memory"}')).toBe(0)
    const waits = 'astra_job_wait_seconds'
    expect(sampleOf(text, `${waits}_count{queue="embeddings",job="embed"}`)).toBe(5)
    const buckets = text
      .split('\n')
      .filter((line) => line.startsWith(`${waits}_bucket`))
      .map((line) => Number(line.split(' ').at(-1)))
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
    expect(buckets.at(-1)).toBe(5)
    expect(sampleOf(text, 'astra_queue_jobs{queue="embeddings",state="failed"}')).toBe(2)
    expect(sampleOf(text, 'astra_queue_workers{queue="embeddings"}')).toBe(0)
    await producer.close()
    connection.disconnect()
  })

  it('is kept while Redis does not answer, and written once when it does', async () => {
    const own = await startRedis()
    const writer = connectOrFail(own.address, { waitMs: 300 })
    writer.on('error', () => {})
    const told: string[] = []
    const debugLog = pino({ level: 'debug' }, { write: (line) => told.push(line) })
    const flushing = startFlushing(writer, debugLog)
    count('astra_sandbox_kills_total', { limit: 'memory' })
    process.kill(own.pid, 'SIGSTOP')
    // The flush that timed out lies in the socket: Redis takes it in when it goes on.
    await expect.poll(() => told.join()).toContain('not written yet')
    process.kill(own.pid, 'SIGCONT')
    count('astra_sandbox_kills_total', { limit: 'memory' })
    await expect.poll(async () => Object.values(await writer.hgetall(metricsKey))).toEqual(['2'])
    await flushing.stop()
    expect(Object.values(await writer.hgetall(metricsKey))).toEqual(['2'])
    writer.disconnect()
    await own.stop()
  })
})

describe('jobs that are done while their counts cannot be written', () => {
  it('are done all the same, and counted later, each once', async () => {
    const reports = await startRedis()
    const writer = connectOrFail(reports.address, { waitMs: 300 })
    writer.on('error', () => {})
    const connection = connect(redis.address)
    const told: string[] = []
    const debugLog = pino({ level: 'debug' }, { write: (line) => told.push(line) })
    const flushing = startFlushing(writer, debugLog)
    process.kill(reports.pid, 'SIGSTOP')
    let done = 0
    const consumer = consume(
      'tool-results',
      {
        async deliver() {
          done += 1
          return {}
        },
      },
      { redis: connection, log, concurrency: 2 },
    )
    const producer = createProducer(client)
    const add = (n: number) =>
      producer.add('tool-results', 'deliver', { run_id: 'run-a', call_id: `call-${n}` })
    for (let n = 0; n < 20; n += 1) await add(n)
    await expect.poll(() => told.join()).toContain('not written yet')
    for (let n = 20; n < 40; n += 1) await add(n)
    await expect.poll(() => done).toBe(40)
    await consumer.close(1000)
    process.kill(reports.pid, 'SIGCONT')
    await flushing.stop()
    const counts = await writer.hgetall(metricsKey)
    const of = (name: string, ...values: string[]) => counts[JSON.stringify([name, ...values])]
    const labels = ['tool-results', 'deliver']
    expect(of('astra_job_duration_seconds', 'count', ...labels, 'completed')).toBe('40')
    expect(of('astra_job_wait_seconds', 'count', ...labels)).toBe('40')
    await producer.close()
    connection.disconnect()
    writer.disconnect()
    await reports.stop()
  })

  it('hold the end of their process up for seconds at most, and their counts are lost then', async () => {
    const reports = await startRedis()
    const writer = connectOrFail(reports.address, { waitMs: 300 })
    writer.on('error', () => {})
    const flushing = startFlushing(writer, log)
    await reports.stop()
    count('astra_sandbox_kills_total', { limit: 'time' })
    const started = performance.now()
    await flushing.stop()
    expect(performance.now() - started).toBeLessThan(5_000)
    writer.disconnect()
  })
})

describe('what is read at a scrape', () => {
  it('counts an ended run once, also for the next process and after its view has gone', async () => {
    const ended = sampleView({
      run_id: 'run-ended',
      requests: 5,
      tests: 3,
      cost_usd: 0.25,
      recall: { ...sampleView().recall, searches: 2, matched: 1, answered_none: 1 },
      created_at: new Date().toISOString(),
      ended_at: new Date().toISOString(),
    })
    const open = { ...ended, run_id: 'run-open', status: 'running', reason: null, ended_at: null }
    for (const view of [ended, open]) {
      await client.set(runViewKey(view.run_id), JSON.stringify(view))
      await client.zadd(runsIndexKey, Date.parse(view.created_at), view.run_id)
    }
    const metrics = scraper()
    const runs = 'astra_runs_total{mode="offline",status="not_fixed",reason="tests_fail"}'
    const requests = 'astra_model_requests_total{mode="offline"}'
    const first = await metrics.text()
    expect(sampleOf(first, runs)).toBe(1)
    expect(sampleOf(first, requests)).toBe(10)
    expect(sampleOf(first, 'astra_runs_unfinished{mode="offline"}')).toBe(1)
    expect(sampleOf(first, 'astra_run_cost_dollars_total{mode="offline"}')).toBeCloseTo(0.5, 6)
    expect(sampleOf(first, 'astra_memory_searches_total{mode="offline",answer="none"}')).toBe(2)

    await client.set(runViewKey('run-open'), JSON.stringify({ ...ended, run_id: 'run-open' }))
    await client.del(runViewKey('run-ended'))
    const both = await Promise.all([metrics.text(), scraper().text()])
    for (const text of [...both, await metrics.text()]) {
      expect(sampleOf(text, runs)).toBe(2)
      expect(sampleOf(text, requests)).toBe(10)
      expect(sampleOf(text, 'astra_runs_unfinished{mode="offline"}')).toBe(0)
      expect(sampleOf(text, 'astra_gate_refusals_total{mode="offline"}')).toBe(0)
    }
  })

  it('tells how much of their budgets ended runs spent that asked the model, and how many were stopped', async () => {
    const own = await startRedis()
    const other = connectOrFail(own.address)
    const producer = createProducer(other)
    const metrics = createMetrics({ redis: other, producer, config, log, now: () => new Date() })
    const stopped = 'astra_runs_total{mode="live",status="limit_reached",reason="budget"}'
    expect(sampleOf(await metrics.text(), stopped)).toBe(0)
    const live = { mode: 'live', budget_usd: 0.5, ended_at: new Date().toISOString() } as const
    const runs = [
      { ...live, cost_usd: 0.3 },
      { ...live, cost_usd: 0.5, status: 'limit_reached', reason: 'budget' } as const,
      { ...live, cost_usd: 0, requests: 0 },
      { ...live, budget_usd: 0 },
      { ...live, budget_usd: null },
      { ...live, ended_at: null },
    ]
    for (const [i, changes] of runs.entries()) {
      const created_at = new Date().toISOString()
      const view = sampleView({ ...changes, run_id: `run-${i}`, created_at })
      await other.set(runViewKey(view.run_id), JSON.stringify(view))
      await other.zadd(runsIndexKey, Date.parse(created_at), view.run_id)
    }
    const text = await metrics.text()
    const ratio = 'astra_run_budget_spent_ratio'
    const upTo = (le: string) => sampleOf(text, `${ratio}_bucket{le="${le}",mode="live"}`)
    expect(['0.5', '0.75', '0.9', '1', '+Inf'].map(upTo)).toEqual([0, 1, 1, 2, 2])
    expect(sampleOf(text, `${ratio}_sum{mode="live"}`)).toBeCloseTo(1.6, 6)
    expect(sampleOf(text, stopped)).toBe(1)
    await producer.close()
    other.disconnect()
    await own.stop()
  })

  it('tells the age of the oldest waiting job, whatever its priority', async () => {
    const producer = createProducer(client)
    const queue = producer.queue('tests')
    const at = Date.now()
    await queue.add('run', {}, { priority: 900, timestamp: at - 90_000 })
    await queue.add('run', {}, { priority: 5, timestamp: at - 30_000 })
    await queue.add('run', {}, { timestamp: at - 10_000 })
    const text = await scraper(() => new Date(at)).text()
    expect(sampleOf(text, 'astra_queue_oldest_waiting_seconds{queue="tests"}')).toBe(90)
    expect(sampleOf(text, 'astra_queue_jobs{queue="tests",state="waiting"}')).toBe(3)
    expect(sampleOf(text, 'astra_queue_oldest_waiting_seconds{queue="runs"}')).toBe(0)
    await producer.close()
  })

  it('says which source cannot be read, and goes on with the others', async () => {
    await client.zadd(runsIndexKey, Date.now(), 'run-broken')
    await client.set(runViewKey('run-broken'), '{"no":"view"}')
    const text = await scraper().text()
    expect(sampleOf(text, 'astra_scrape_failed{source="runs"}')).toBe(1)
    expect(sampleOf(text, 'astra_scrape_failed{source="queues"}')).toBe(0)
    expect(sampleOf(text, 'astra_queue_jobs{queue="runs",state="active"}')).toBe(0)
  })

  it('says that the memory does not answer when nobody takes its jobs', async () => {
    expect(sampleOf(await scraper().text(), 'astra_memory_up')).toBe(0)
    expect(await client.keys('*memory:list-*')).toEqual([])
  })
})
