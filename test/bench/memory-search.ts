import { mkdtemp, rm, stat } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { seededVector } from '../support/memory.ts'
import { errorTypeOf, failureRecord, lineOf, recurrenceOf } from './failure-corpus.ts'

/**
 * The store's own work for one search as records grow: both vectors, words and the count of what was
 * searched, with two query vectors as a run has them. `node ops/run.mjs test/bench/memory-search.ts
 * [RECORDS ...]`
 */
const DIMENSIONS = 384
const ROUNDS = 200
/** As `search-memory.ts` asks. */
const LIMIT = 20
const everything = { errorType: null, scope: null, notBefore: null }

/** Of each time: how long it took, and the longest that the event loop had no turn meanwhile. */
type Measured = { times: number[]; blocks: number[] }

async function measure(
  rounds: number,
  work: (round: number) => Promise<unknown>,
): Promise<Measured> {
  const measured: Measured = { times: [], blocks: [] }
  for (let round = 0; round < rounds; round += 1) {
    await nextTurn()
    const started = performance.now()
    let isDone = false
    const done = work(round).finally(() => {
      isDone = true
      measured.times.push(performance.now() - started)
    })
    let block = 0
    for (let last = started; !isDone; ) {
      await nextTurn()
      const turn = performance.now()
      block = Math.max(block, turn - last)
      last = turn
    }
    measured.blocks.push(block)
    await done
  }
  return measured
}

function printRow(name: string, { times, blocks }: Measured): void {
  const quantile = (values: readonly number[], share: number) =>
    values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0
  const cells = [quantile(times, 0.5), quantile(times, 0.95), quantile(blocks, 0.95)]
  cells.push(Math.max(...blocks))
  process.stdout.write(`| ${name} | ${cells.map((ms) => ms.toFixed(1)).join(' | ')} |\n`)
}

async function fill(file: string, records: number, key: SigningKey): Promise<Measured> {
  const backend = openSqliteBackend({ file, dimensions: DIMENSIONS })
  const stored = await measure(records, (seed) =>
    backend.upsert(failureRecord(seed, key), {
      symptom: seededVector(2 * seed, DIMENSIONS),
      fix: seededVector(2 * seed + 1, DIMENSIONS),
    }),
  )
  await backend.close()
  return { times: stored.times.slice(-1_000), blocks: stored.blocks.slice(-1_000) }
}

async function search(
  backend: MemoryBackend,
  round: number,
  ask: { text: string; errorType: string | null },
): Promise<void> {
  const vectors = [0, 1].map((i) => seededVector(1_000_003 + 2 * round + i, DIMENSIONS))
  await backend.candidates({ ...everything, ...ask, vectors, limit: LIMIT })
  await backend.countLive({ ...everything, ...ask })
}

async function measureSize(records: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'astra-bench-'))
  const file = join(folder, 'memory.db')
  const stored = await fill(file, records, loadSigningKey(folder))
  let backend: MemoryBackend | undefined
  const opened = await measure(1, async () => {
    backend = openSqliteBackend({ file, dimensions: DIMENSIONS })
    await backend.countLive(everything)
  })
  if (!backend) throw new Error('the store did not open')
  const store = backend

  const [size, memory] = [(await stat(file)).size, process.memoryUsage().rss]
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
  process.stdout.write(
    `\n${records} records: file ${megabytes(size)}, process ${megabytes(memory)}, ` +
      `load ${loadavg()[0]?.toFixed(1)}\n\n` +
      '| ms | median | p95 | block, p95 | longest block |\n|---|---|---|---|---|\n',
  )
  printRow('store one', stored)
  printRow('open', opened)
  const kinds = { 'a failure met again': recurrenceOf, 'one line': lineOf }
  for (const [name, textOf] of Object.entries(kinds)) {
    for (const isFiltered of [false, true]) {
      const found = await measure(ROUNDS, (round) => {
        const seed = (round * 7_919) % records
        const errorType = isFiltered ? errorTypeOf(seed) : null
        return search(store, round, { text: textOf(seed), errorType })
      })
      printRow(isFiltered ? `${name}, with its error type` : name, found)
    }
  }
  await store.close()
  await rm(folder, { recursive: true })
}

process.stdout.write(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}\n`)
const sizes = process.argv.slice(2).map(Number)
for (const records of sizes.length > 0 ? sizes : [1_000, 10_000, 100_000]) {
  await measureSize(records)
}
