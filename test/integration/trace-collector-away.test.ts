import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisSocketPath } from '../../shared/config.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { inTraceOf, span, startTracing, stopTracing } from '../../shared/tracing.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { startService } from '../support/service-process.ts'

/** Less than an export that is waited for takes to fail. */
const NOT_WAITED_MS = 1_500

let home: string
let redis: TestRedis
let client: ReturnType<typeof connectOrFail>
let producer: Producer
let receiver: OtlpReceiver

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-trace-'))
  redis = await startRedis(redisSocketPath(home, {}))
  client = connectOrFail(redis.address)
  receiver = await startOtlpReceiver()
  // This process adds the jobs, as a part of a run's trace.
  await startTracing('test', receiver.endpoint)
  producer = createProducer(client)
})
afterAll(async () => {
  await stopTracing()
  await producer.close()
  client.disconnect()
  await redis.stop()
  await receiver.close()
  await rm(home, { recursive: true, force: true })
})

async function nobodysEndpoint(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

/** One traced job, and how long it took. */
async function embed(runId: string): Promise<number> {
  const started = performance.now()
  const job = flowJob('embeddings', 'embed', { texts: ['a text'] }, randomUUID())
  const asked = { ...job, queueName: 'embeddings', name: 'embed' } as const
  await inTraceOf({ run_id: runId }, () => ask(producer, asked, { timeoutMs: 30_000 }))
  return performance.now() - started
}

const spansOf = (service: string) => receiver.spans.filter((each) => each.service === service)

describe('a collector', () => {
  it.each(['is away', 'answers 500', 'never answers'] as const)(
    'that %s slows no job and fails none, nor the end of the process',
    async (fault) => {
      receiver.fault = fault === 'is away' ? null : fault
      receiver.refused = 0
      const endpoint = fault === 'is away' ? await nobodysEndpoint() : receiver.endpoint
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }
      const embedder = await startService('embedder', home, env)
      const times: number[] = []
      for (let i = 0; i < 5; i += 1) times.push(await embed(`run-${i}`))
      // Were exports waited for, no job could be quicker than one.
      expect(Math.min(...times)).toBeLessThan(NOT_WAITED_MS)
      if (receiver.fault !== null) await expect.poll(() => receiver.refused).toBeGreaterThan(0)
      expect(await embedder.end('SIGTERM')).toBe(0)
      receiver.fault = null
      expect(spansOf('embedder')).toEqual([])
    },
  )

  it('is sent what comes next once it takes spans again', async () => {
    receiver.fault = 'answers 500'
    receiver.refused = 0
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint }
    const embedder = await startService('embedder', home, env)
    await embed('run-lost')
    await expect.poll(() => receiver.refused).toBeGreaterThan(0)
    receiver.fault = null
    await embed('run-after')
    expect(await embedder.end('SIGTERM')).toBe(0)
    expect(spansOf('embedder').map(({ name }) => name)).toContain('embedding')
  })

  it('that never answers has no more than 2,048 spans kept for it', async () => {
    receiver.fault = 'never answers'
    receiver.refused = 0
    const work = async () => {}
    await inTraceOf({ run_id: 'run-many' }, () => span('first', {}, work))
    await expect.poll(() => receiver.refused).toBeGreaterThan(0)
    for (let i = 0; i < 6_000; i += 1) {
      await inTraceOf({ run_id: 'run-many' }, () => span('one of many', {}, work))
    }
    receiver.fault = null
    await stopTracing()
    const arrived = spansOf('test').filter(({ name }) => name === 'one of many').length
    expect(arrived).toBeGreaterThan(0)
    expect(arrived).toBeLessThanOrEqual(2_048)
  })
})
