import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createMetrics } from '../../services/dashboard/metrics/create-metrics.ts'
import { readConfig, redisSocketPath } from '../../shared/config.ts'
import { createLogger } from '../../shared/logger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { sampleOf } from '../support/metrics.ts'
import { startRedis } from '../support/redis.ts'
import { startService } from '../support/service-process.ts'

const log = createLogger('test', 'fatal')
/**
 * Longer than a flush waits, so that one fails and is in the socket all the same; shorter than a worker's
 * lock on its job, so that no job is begun twice.
 */
const HUNG_MS = 3_000

it('a service whose Redis hung has done every job, and has counted each of them once', async () => {
  const home = await mkdtemp(join(tmpdir(), 'astra-metrics-'))
  const redis = await startRedis(redisSocketPath(home, {}))
  const client = connectOrFail(redis.address, { waitMs: 20_000 })
  const producer = createProducer(client)
  const embedder = await startService('embedder', home)
  onTestFinished(async () => {
    if (embedder.child.exitCode === null) await embedder.end('SIGKILL')
    await producer.close()
    client.disconnect()
    await redis.stop()
    await rm(home, { recursive: true, force: true })
  })
  const add = async (jobs: number) => {
    for (let n = 0; n < jobs; n += 1) await producer.add('embeddings', 'embed', { texts: ['text'] })
  }
  const completed = () => producer.queue('embeddings').getCompletedCount()
  await add(15)
  await expect.poll(completed).toBeGreaterThan(0)
  process.kill(redis.pid, 'SIGSTOP')
  const hung = connectOrFail(redis.address, { waitMs: HUNG_MS })
  hung.on('error', () => {})
  await expect(hung.ping()).rejects.toThrow()
  hung.disconnect()
  process.kill(redis.pid, 'SIGCONT')
  await add(15)
  await expect.poll(completed).toBe(30)
  expect(await embedder.end('SIGTERM')).toBe(0)

  const config = readConfig({ ASTRA_HOME: home })
  const deps = { redis: client, producer, config, log, now: () => new Date() }
  const text = await createMetrics(deps).text()
  const tries = (outcome: string) =>
    sampleOf(
      text,
      `astra_job_duration_seconds_count{queue="embeddings",job="embed",outcome="${outcome}"}`,
    ) ?? 0
  expect(tries('completed')).toBe(30)
  expect(sampleOf(text, 'astra_embedding_batch_texts_count')).toBe(30)
  expect(tries('failed')).toBe(0)
})
