import { Queue } from 'bullmq'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../shared/logger.ts'
import { connect, connectOrFail, KEY_PREFIX } from '../../shared/queue/connection.ts'
import { type Consumer, consume } from '../../shared/queue/consumer.ts'
import { createProducer, type Producer } from '../../shared/queue/producer.ts'
import { runTrace } from '../../shared/tracing/run-trace.ts'
import { startTracing, stopTracing, traceEndedRun } from '../../shared/tracing.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

const log = createLogger('test', 'fatal')
const at = '2026-01-01T00:00:00.000Z'

let receiver: OtlpReceiver
let redis: TestRedis
let connection: ReturnType<typeof connect>
let client: ReturnType<typeof connectOrFail>
let producer: Producer
let consumer: Consumer
const woken = new Set<string>()
const allWoken = Promise.withResolvers<void>()

beforeAll(async () => {
  receiver = await startOtlpReceiver()
  redis = await startRedis()
  connection = connect(redis.address)
  client = connectOrFail(redis.address)
  await startTracing('test', receiver.endpoint)
  producer = createProducer(client)
  consumer = consume(
    'runs',
    {
      start: async () => ({}),
      async wake({ run_id }) {
        woken.add(run_id)
        if (woken.size === 3) allWoken.resolve()
        if (run_id === 'run-failing') throw new Error('the secret of run-failing')
        return {}
      },
      cancel: async () => ({}),
      async sweep() {
        await producer.add('runs', 'wake', { run_id: 'run-swept' })
        return {}
      },
    },
    { redis: connection, log, concurrency: 4 },
  )
  // As a process adds it that does not trace.
  const untraced = new Queue('runs', { connection: client, prefix: KEY_PREFIX })
  await untraced.add('wake', { run_id: 'run-untraced' })
  await producer.add('runs', 'sweep', {})
  await untraced.add('wake', { run_id: 'run-failing' })
  await allWoken.promise
  await untraced.close()
  await consumer.close(1000)
  await producer.close()
  traceEndedRun({ runId: 'run-swept', startedAt: at, endedAt: at, attributes: {} })
  await stopTracing()
})
afterAll(async () => {
  connection.disconnect()
  client.disconnect()
  await redis.stop()
  await receiver.close()
})

const spansOf = (runId: string) =>
  receiver.spans.filter(({ traceId }) => traceId === runTrace(runId).traceId)

describe('a wake belongs to the trace of its run', () => {
  it('when a sweep adds it, which is in no trace itself', () => {
    const spans = spansOf('run-swept')
    const added = spans.find(({ name }) => name.startsWith('add '))
    expect(added?.parentSpanId).toBe(runTrace('run-swept').spanId)
    const processed = spans.find(({ name }) => name === 'process runs')
    expect(processed?.parentSpanId).toBe(added?.spanId)
    expect(spans.find(({ name }) => name === 'runs wake')?.parentSpanId).toBe(processed?.spanId)
    expect(receiver.spans.filter(({ name }) => name.includes('sweep'))).toEqual([])
  })

  it('when the process that added it does not trace', () => {
    const spans = spansOf('run-untraced')
    expect(spans.map(({ name }) => name)).toEqual(['runs wake'])
    expect(spans[0]?.parentSpanId).toBe(runTrace('run-untraced').spanId)
  })

  it('and its end is the root that all of them named before it was there', () => {
    const root = spansOf('run-swept').find(({ name }) => name === 'run')
    expect(root).toMatchObject({ spanId: runTrace('run-swept').spanId })
    expect(root?.parentSpanId ?? '').toBe('')
  })

  it('and a failed one says what kind of fault it was, not what it told', () => {
    expect(spansOf('run-failing').length).toBeGreaterThan(0)
    expect(receiver.bodies.join()).not.toContain('the secret of')
  })
})
