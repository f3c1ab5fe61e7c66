import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { QueueEvents } from 'bullmq'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { bundledModel, type Embed, loadModel } from '../../services/embedder/model.ts'
import { productRoot, redisSocketPath } from '../../shared/config.ts'
import { encodeVector } from '../../shared/contracts/vector.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connect, KEY_PREFIX } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { startRedis } from '../support/redis.ts'

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
  const socket = redisSocketPath(home, process.env)
  await mkdir(dirname(socket), { recursive: true, mode: 0o700 })
  const redis = await startRedis(socket)
  undo.push(() => redis.stop())
  const connection = connect(redis.address)
  undo.push(() => connection.disconnect())
  producer = createProducer(connection)
  undo.push(() => producer.close())
})

afterEach(async () => {
  for (const step of undo.reverse()) await step()
})

function spawnEmbedder(env: Record<string, string> = {}): ChildProcess {
  const child = fork(join(productRoot, 'services', 'embedder', 'main.ts'), {
    env: { ...process.env, ASTRA_HOME: home, REDIS_URL: '', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  undo.push(() => end(child, 'SIGKILL'))
  return child
}

async function startEmbedder(): Promise<ChildProcess> {
  const child = spawnEmbedder()
  child.stderr?.resume()
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the embedder ended with ${code}`)
  })
  await Promise.race([once(child, 'message'), failed])
  failed.catch(() => undefined)
  return child
}

/** The exit code, or null when a signal ended it. */
async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }
  return child.exitCode
}

function askFor(jobId: string, texts: string[], timeoutMs = 50_000) {
  const job = flowJob('embeddings', 'embed', { texts }, jobId)
  return ask(producer, { ...job, queueName: 'embeddings', name: 'embed' }, { timeoutMs })
}

async function vectorsOf(texts: string[]): Promise<string[]> {
  const vectors: string[] = []
  for (const text of texts) vectors.push(encodeVector(await embed(text)))
  return vectors
}

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
  const connection = connect({ path: redisSocketPath(home, process.env) })
  undo.push(() => connection.disconnect())
  const events = new QueueEvents('embeddings', { connection, prefix: KEY_PREFIX })
  undo.push(() => events.close())
  await events.waitUntilReady()
  const first = await startEmbedder()

  const oneDone = once(events, 'completed')
  const answers = Promise.all(jobs.map(({ id, texts }) => askFor(id, texts)))
  await oneDone
  await end(first, 'SIGKILL')
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
  const connection = connect({ path: redisSocketPath(home, process.env) })
  undo.push(() => connection.disconnect())
  const events = new QueueEvents('embeddings', { connection, prefix: KEY_PREFIX })
  undo.push(() => events.close())
  await events.waitUntilReady()
  const active = once(events, 'active')
  const answer = askFor('last', texts)
  await active
  expect(await end(embedder, 'SIGTERM')).toBe(0)
  expect((await answer).vectors).toHaveLength(20)
})

it('does not start without its model, and says which file and which variable', async () => {
  const folder = join(home, 'no-model')
  const child = spawnEmbedder({ EMBEDDING_MODEL_PATH: folder })
  const chunks: Buffer[] = []
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  expect(code).toBe(1)
  const said = Buffer.concat(chunks).toString()
  expect(said).toContain(
    `embedder: the embedding model (EMBEDDING_MODEL_PATH) has no file ${folder}`,
  )
})
