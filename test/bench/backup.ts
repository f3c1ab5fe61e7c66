import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { copyStore, storeProblem } from '../../services/cli/backup/copy-store.ts'
import { hashFile } from '../../services/cli/backup/hash-file.ts'
import {
  BACKUP_FORMAT,
  type BackupManifest,
  STORE_FILE,
} from '../../services/cli/backup/manifest.ts'
import { readArchive } from '../../services/cli/backup/read-archive.ts'
import { writeArchive } from '../../services/cli/backup/write-archive.ts'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { seededVector } from '../support/memory.ts'
import { failureRecord, recurrenceOf } from './failure-corpus.ts'

/**
 * What a backup of the store costs as records grow, and what those notice who search and store beside
 * it: `node ops/run.mjs test/bench/backup.ts [RECORDS ...]`. The copying process is this file again.
 */
const everything = { errorType: null, scope: null, notBefore: null }
const never = new AbortController().signal

async function fill(file: string, records: number, key: SigningKey): Promise<void> {
  const store = openSqliteBackend({ file, dimensions: DIMENSIONS })
  for (let seed = 0; seed < records; seed += 1) await add(store, seed, key)
  await store.close()
}

function add(store: MemoryBackend, seed: number, key: SigningKey) {
  return store.upsert(failureRecord(seed, key), {
    symptom: seededVector(2 * seed, DIMENSIONS),
    fix: seededVector(2 * seed + 1, DIMENSIONS),
  })
}

/** Searches one after another, and a store after every tenth, until `isOver`. */
async function use(store: MemoryBackend, records: number, key: SigningKey, isOver: () => boolean) {
  const searches: number[] = []
  const stores: number[] = []
  for (let round = 0; !isOver(); round += 1) {
    const vectors = [0, 1].map((i) => seededVector(1_000_003 + 2 * round + i, DIMENSIONS))
    const text = recurrenceOf((round * 7_919) % records)
    const began = performance.now()
    await store.candidates({ ...everything, vectors, text, limit: 20 })
    searches.push(performance.now() - began)
    if (round % 10 === 9) {
      const before = performance.now()
      await add(store, records + round, key)
      stores.push(performance.now() - before)
    }
  }
  return { searches, stores }
}

/** Of each turn of the event loop that took longer than 1 ms: its time, and of that our own computing. */
async function watchTurns(isOver: () => boolean): Promise<{ wall: number[]; cpu: number[] }> {
  const turns: { wall: number[]; cpu: number[] } = { wall: [], cpu: [] }
  for (let last = clocks(); !isOver(); ) {
    await nextTurn()
    const now = clocks()
    if (now.wall - last.wall > 1) {
      turns.wall.push(now.wall - last.wall)
      turns.cpu.push(now.cpu - last.cpu)
    }
    last = now
  }
  return turns
}

function clocks(): { wall: number; cpu: number } {
  const { user, system } = process.threadCpuUsage()
  return { wall: performance.now(), cpu: (user + system) / 1000 }
}

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0

async function measureUse(
  store: MemoryBackend,
  { records, key, name }: { records: number; key: SigningKey; name: string },
  until: Promise<unknown>,
): Promise<void> {
  let over = false
  void until.finally(() => {
    over = true
  })
  const [{ searches, stores }, turns] = await Promise.all([
    use(store, records, key, () => over),
    watchTurns(() => over),
  ])
  const cells = [
    ...[quantile(searches, 0.5), quantile(searches, 0.95), quantile(stores, 0.5)],
    ...[turns.wall, turns.cpu].flatMap((each) => [quantile(each, 0.95), Math.max(...each)]),
  ].map((ms) => ms.toFixed(1))
  process.stdout.write(`| ${name} | ${searches.length} | ${cells.join(' | ')} |\n`)
}

/** The parts of a backup that are about the store, in a process of their own. */
async function copyAndPack(home: string): Promise<void> {
  const parts = join(home, 'parts')
  const times: string[] = []
  let began = performance.now()
  const lap = (name: string) => {
    times.push(`${name} ${((performance.now() - began) / 1000).toFixed(1)} s`)
    began = performance.now()
  }
  const copy = join(parts, STORE_FILE)
  const file = join(home, STORE_FILE)
  const { records, schema, at } = await copyStore(file, copy, {
    interrupted: never,
    onProgress: () => {},
  })
  lap('copied')
  const problem = storeProblem(copy)
  if (problem) throw new Error(problem)
  lap('checked')
  const nothing = { held: 0, sent: 0, settled: 0 }
  const manifest: BackupManifest = {
    format: BACKUP_FORMAT,
    product_version: 'bench',
    created_at: at,
    read_at: { runs: at, store: at, keys: at, ledger: at },
    store: { kind: 'sqlite', schema },
    counts: { records, runs: 0, trusted_keys: 0 },
    signing_key: false,
    spent: { live: nothing, notional: nothing },
    parts: [{ name: STORE_FILE, ...(await hashFile(copy)) }],
  }
  lap('hashed')
  const backup = join(home, 'backup.tar.zst')
  await writeArchive(backup, { manifest, parts, interrupted: never })
  lap('packed')
  await readArchive(backup, join(home, 'unpacked'), never)
  lap('unpacked again')
  const [size, packed] = [(await stat(copy)).size, (await stat(backup)).size]
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
  process.stdout.write(`\n${times.join(', ')}; ${megabytes(size)} in ${megabytes(packed)}\n`)
}

async function measureSize(records: number): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'astra-bench-'))
  const key = loadSigningKey(home)
  const file = join(home, STORE_FILE)
  await fill(file, records, key)
  const store = openSqliteBackend({ file, dimensions: DIMENSIONS })
  await store.countLive(everything)
  process.stdout.write(
    `\n${records} records, load ${loadavg()[0]?.toFixed(1)}\n\n` +
      '| | searches | median ms | p95 | store, median | turn, p95 | longest | of that CPU, p95 | longest |\n' +
      '|---|---|---|---|---|---|---|---|---|\n',
  )
  const { promise: tenSeconds, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, 10_000)
  await measureUse(store, { records, key, name: 'alone' }, tenSeconds)
  await mkdir(join(home, 'parts', 'memory'), { recursive: true })
  const child = spawn(process.execPath, [import.meta.filename, '--copy', home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  await measureUse(store, { records, key, name: 'beside a backup' }, once(child, 'close'))
  process.stdout.write(said)
  await store.close()
  await rm(home, { recursive: true })
}

const [first = '', home = ''] = process.argv.slice(2)
if (first === '--copy') {
  await copyAndPack(home)
} else {
  process.stdout.write(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}\n`)
  const sizes = process.argv.slice(2).map(Number)
  for (const records of sizes.length > 0 ? sizes : [10_000, 100_000]) await measureSize(records)
}
