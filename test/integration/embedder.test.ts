import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QueueEvents } from 'bullmq'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { bundledModel, type Embed, loadModel } from '../../services/embedder/model.ts'
import { productRoot, redisSocketPath } from '../../shared/config.ts'
import { encodeVector } from '../../shared/contracts/vector.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connect, KEY_PREFIX } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { startRedis } from '../support/redis.ts'
import { failToStart, type ServiceProcess, startService } from '../support/service-process.ts'

const modelModule = join(productRoot, 'services/embedder/model.ts')

let embed: Embed
beforeAll(async () => {
  embed = await loadModel(bundledModel)
})

let home: string
let producer: Producer
let undo: (() => Promise<unknown> | unknown)[]

beforeEach(async () => {
  undo = []
  home = await mkdtemp(join(tmpdir(), 'astra-embedder-'))
  undo.push(() => rm(home, { recursive: true, force: true }))
  const redis = await startRedis(redisSocketPath(home, process.env))
  undo.push(() => redis.stop())
  const connection = connect(redis.address)
  undo.push(() => connection.disconnect())
  producer = createProducer(connection)
  undo.push(() => producer.close())
})

afterEach(async () => {
  for (const step of undo.reverse()) await step()
})

async function startEmbedder(): Promise<ServiceProcess> {
  const embedder = await startService('embedder', home)
  undo.push(() => embedder.end('SIGKILL'))
  return embedder
}

async function queueEvents(): Promise<QueueEvents> {
  const connection = connect({ path: redisSocketPath(home, process.env) })
  undo.push(() => connection.disconnect())
  const events = new QueueEvents('embeddings', { connection, prefix: KEY_PREFIX })
  undo.push(() => events.close())
  await events.waitUntilReady()
  return events
}

function askFor(jobId: string, texts: string[]) {
  const job = flowJob('embeddings', 'embed', { texts }, jobId)
  return ask(producer, { ...job, queueName: 'embeddings', name: 'embed' }, { timeoutMs: 150_000 })
}

async function vectorsOf(texts: string[]): Promise<string[]> {
  const vectors: string[] = []
  for (const text of texts) vectors.push(encodeVector(await embed(text)))
  return vectors
}

it('leaves no files of the inference runtime in the temporary or the home folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'astra-ort-'))
  undo.push(() => rm(folder, { recursive: true, force: true }))
  const program = `
    const { loadModel, bundledModel } = await import(${JSON.stringify(modelModule)})
    await (await loadModel(bundledModel))('a text')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
    stdio: 'inherit',
  })
  expect((await once(child, 'exit'))[0]).toBe(0)
  expect(await readdir(folder, { recursive: true })).toEqual([])
})

it('answers a job with the vectors of its texts, in order', async () => {
  await startEmbedder()
  const texts = ['rejects files over the limit', '', 'half a pair: \ud83d', 'x '.repeat(50_000)]
  const { vectors } = await askFor('embed-1', texts)
  expect(vectors).toEqual(await vectorsOf(texts))
})

it('fails a job without texts for good and takes the next', async () => {
  await startEmbedder()
  await producer.queue('embeddings').add('embed', { texts: [] }, { jobId: 'bad', attempts: 3 })
  const { vectors } = await askFor('good', ['a text'])
  expect(vectors).toEqual(await vectorsOf(['a text']))
  const bad = await producer.queue('embeddings').getJob('bad')
  expect(await bad?.getState()).toBe('failed')
  expect(bad?.attemptsMade).toBe(1)
})

it('loses no job when it is killed: another embedder finishes them all', async () => {
  const jobs = Array.from({ length: 30 }, (_, job) => ({
    id: `load-${job}`,
    texts: Array.from({ length: 6 }, (_, text) => `job ${job} text ${text} `.repeat(12)),
  }))
  const events = await queueEvents()
  const first = await startEmbedder()

  const oneDone = once(events, 'completed')
  const answers = Promise.all(jobs.map(({ id, texts }) => askFor(id, texts)))
  await oneDone
  await first.end('SIGKILL')
  expect(await producer.queue('embeddings').getActiveCount()).toBeGreaterThan(0)

  await startEmbedder()
  const results = await answers
  for (const [index, { texts }] of jobs.entries()) {
    expect(results[index]?.vectors).toEqual(await vectorsOf(texts))
  }
})

it('ends its running job before it stops', async () => {
  const embedder = await startEmbedder()
  const texts = Array.from({ length: 20 }, (_, index) => `text ${index} `.repeat(40))
  const events = await queueEvents()
  const active = once(events, 'active')
  const answer = askFor('last', texts)
  await active
  expect(await embedder.end('SIGTERM')).toBe(0)
  expect((await answer).vectors).toHaveLength(20)
})

it('does not start without its model, and says which file and which variable', async () => {
  const folder = join(home, 'no-model')
  const { code, output } = await failToStart('embedder', home, { EMBEDDING_MODEL_PATH: folder })
  expect(code).toBe(1)
  expect(output).toContain(
    `embedder: the embedding model (EMBEDDING_MODEL_PATH) has no file ${folder}`,
  )
})
