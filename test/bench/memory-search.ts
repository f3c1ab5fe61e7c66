import { mkdtemp, rm, stat } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as breathe } from 'node:timers/promises'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { sampleRecord, seededVector } from '../support/memory.ts'

/**
 * The store's own work for one search as records grow: both vectors and words, without and with an
 * error type. `node ops/run.mjs test/bench/memory-search.ts [RECORDS ...]`
 */
const DIMENSIONS = 384
const ROUNDS = 60
const ERROR_TYPES = 40
const LIMIT = 50

const sizes = process.argv.slice(2).map(Number)
const words = Array.from({ length: 20_000 }, (_, index) => `name${index.toString(36)}`)
const wordOf = (seed: number) => words[(seed * 7_919 + (seed % 13) ** 3) % words.length] ?? ''
/** Some words are in nearly every text, most in few, as in real output. */
const common = ['expected', 'received', 'at', 'test', 'value', 'undefined', 'line', 'assert']

function textOf(seed: number): string {
  const rare = Array.from({ length: 24 }, (_, index) => wordOf(seed * 31 + index))
  return [...common, ...rare].join(' ')
}

async function measure(records: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'astra-bench-'))
  const file = join(folder, 'memory.db')
  const store = openSqliteBackend({ file, dimensions: DIMENSIONS })
  const filling = performance.now()
  for (let seed = 0; seed < records; seed += 1) {
    const record = sampleRecord({
      session_id: `run-${seed}`,
      error_type: `Error${seed % ERROR_TYPES}`,
      symptom: textOf(seed),
      receipt: null,
    })
    const vectors = {
      symptom: seededVector(2 * seed, DIMENSIONS),
      fix: seededVector(2 * seed + 1, DIMENSIONS),
    }
    await store.upsert(record, vectors)
  }
  const filled = (performance.now() - filling) / records
  await store.close()

  const opening = performance.now()
  const backend = openSqliteBackend({ file, dimensions: DIMENSIONS })
  await search(backend, 0, null)
  const opened = performance.now() - opening
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const all = await medianOf((round) => search(backend, round, null))
  const filtered = await medianOf((round) => search(backend, round, `Error${round % ERROR_TYPES}`))
  loop.disable()
  const bytes = (await stat(file)).size
  const cells = [
    records,
    `${filled.toFixed(2)} ms`,
    `${(opened / 1000).toFixed(1)} s`,
    `${all.toFixed(1)} ms`,
    `${filtered.toFixed(1)} ms`,
    `${(loop.max / 1e6).toFixed(1)} ms`,
    `${Math.round(bytes / 1e6)} MB`,
  ]
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
  await backend.close()
  await rm(folder, { recursive: true })
}

function search(
  backend: ReturnType<typeof openSqliteBackend>,
  round: number,
  errorType: string | null,
) {
  const vectors = [seededVector(1_000_003 + round, DIMENSIONS)]
  const filter = { errorType, scope: null, notBefore: null }
  return backend.candidates({ ...filter, vectors, text: textOf(round * 17), limit: LIMIT })
}

async function medianOf(run: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now()
    await run(round)
    times.push(performance.now() - started)
    // Lets the loop turn, so that a block is seen.
    await breathe()
  }
  return times.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0
}

process.stdout.write(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}\n`)
process.stdout.write(
  '| records | store one | open | search | with error type | longest block | file |\n',
)
process.stdout.write('|---|---|---|---|---|---|---|\n')
for (const records of sizes.length > 0 ? sizes : [1_000, 10_000, 100_000]) await measure(records)
