import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundledModel, loadModel } from '../../services/embedder/model.ts'
import { redisSocketPath } from '../../shared/config.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connect } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { startRedis } from '../support/redis.ts'
import { startService } from '../support/service-process.ts'

/** How fast texts become vectors here: the model alone, then through the queue. Prints Markdown. */
const LENGTHS = [16, 32, 64, 128, 256]
const TEXTS_PER_JOB = [1, 8]
const ROUNDS = 3

const print = (line: string) => process.stdout.write(`${line}\n`)
const tokens = (count: number) => 'test '.repeat(count - 2)
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function modelAlone(): Promise<void> {
  const embed = await loadModel(bundledModel)
  print('\n| tokens a text | ms a text (p50) | texts/s |\n|---|---|---|')
  for (const length of LENGTHS) {
    const times: number[] = []
    for (let run = 0; run < 60; run += 1) times.push(await msOf(() => embed(tokens(length))))
    const ms = median(times.slice(10))
    print(`| ${length} | ${ms.toFixed(1)} | ${Math.round(1000 / ms)} |`)
  }
}

let added = 0

/** Texts a second when some seconds' work is asked for at once in jobs of `perJob` texts. */
async function rate(producer: Producer, length: number, perJob: number) {
  const count = 16_384 / length
  const texts: string[] = Array(perJob).fill(tokens(length))
  const job = () => {
    added += 1
    const flow = flowJob('embeddings', 'embed', { texts }, `bench-${added}`)
    const named = { ...flow, queueName: 'embeddings', name: 'embed' } as const
    return ask(producer, named, { timeoutMs: 60_000 })
  }
  const ms = await msOf(() => Promise.all(Array.from({ length: count / perJob }, job)))
  return (count * 1000) / ms
}

async function throughQueue(embedders: number): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'astra-bench-'))
  const socket = redisSocketPath(home, process.env)
  const redis = await startRedis(socket)
  const connection = connect(redis.address)
  const producer = createProducer(connection)
  const starts = Array.from({ length: embedders }, () => startService('embedder', home))
  try {
    await Promise.all(starts)
    for (const length of LENGTHS) {
      const cells: number[] = []
      for (const perJob of TEXTS_PER_JOB) {
        const rates: number[] = []
        for (let round = 0; round < ROUNDS; round += 1) {
          rates.push(await rate(producer, length, perJob))
        }
        cells.push(Math.round(median(rates)))
      }
      print(`| ${embedders} | ${length} | ${cells.join(' | ')} |`)
    }
  } finally {
    await Promise.all(starts.map(async (start) => (await start).end('SIGKILL')))
    await producer.close()
    connection.disconnect()
    await redis.stop()
    await rm(home, { recursive: true, force: true })
  }
}

print(`${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, Node ${process.versions.node}`)
await modelAlone()
print(`\nThrough the queue, 16,384 tokens asked for at once, texts/s (median of ${ROUNDS}):\n`)
print(`| embedders | tokens a text | ${TEXTS_PER_JOB.map((n) => `${n} a job`).join(' | ')} |`)
print(`|---|---|${'---|'.repeat(TEXTS_PER_JOB.length)}`)
for (const embedders of new Set([1, 2, availableParallelism()])) await throughQueue(embedders)
