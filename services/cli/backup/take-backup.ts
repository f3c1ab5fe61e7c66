import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Amounts, ledgerScopes } from '../../../shared/contracts/ledger.ts'
import { errorText, UnavailableError } from '../../../shared/errors.ts'
import { productVersion } from '../../../shared/product-version.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import { exportMemory } from '../transfer/export-memory.ts'
import type { Services } from '../with-services.ts'
import { copyEvidence, copyKeys, copyRunFiles } from './copy-files.ts'
import { copyStore, holdsRecord, storeProblem } from './copy-store.ts'
import { readEndedRuns } from './ended-runs.ts'
import { hashFile } from './hash-file.ts'
import { stateOf } from './ledger-state.ts'
import {
  BACKUP_FORMAT,
  type BackupManifest,
  LEDGER_PART,
  RUNS_PART,
  STORE_FILE,
  STORE_RECORDS,
} from './manifest.ts'
import { readLedger } from './read-ledger.ts'
import { streamArchive, writeArchive } from './write-archive.ts'

/** `file`: null for stdout. */
export type BackupOrder = { file: string | null; signingKey: boolean }
type Progress = (line: string) => void

/**
 * Takes a backup while everything goes on. The parts are read in an order in which what is later knows
 * of all that is earlier: ended runs, then the store, which has what those runs stored; then keys,
 * which prove what the store has; then the ledger, which has all that was spent until then.
 */
export async function takeBackup(
  services: Services,
  { file, signingKey }: BackupOrder,
  onProgress: Progress,
): Promise<BackupManifest> {
  const { home } = services.config
  // Beside what becomes of it: there has to be room for that anyhow.
  const parts = await partsFolder(file === null ? home : dirname(file))
  try {
    const runs = await copyRuns(services, parts)
    const copied = await copyMemory(services, parts, onProgress)
    const keysAt = now()
    const keys = await copyKeys(home, parts, { signing: signingKey })
    const { ledgerAt, spent } = await copyLedger(services, parts)
    services.interrupted.throwIfAborted()
    const manifest: BackupManifest = {
      format: BACKUP_FORMAT,
      product_version: productVersion(),
      created_at: copied.at,
      read_at: { runs: runs.at, store: copied.at, keys: keysAt, ledger: ledgerAt },
      store: copied.store,
      counts: { records: copied.records, runs: runs.count, trusted_keys: keys.trusted },
      signing_key: keys.signing,
      spent,
      parts: await listParts(parts),
    }
    onProgress('packing')
    const written = { manifest, parts, interrupted: services.interrupted }
    if (file === null) await streamArchive(written)
    else await writeArchive(file, written)
    return manifest
  } finally {
    await rm(parts, { recursive: true, force: true })
  }
}

const now = () => new Date().toISOString()

async function partsFolder(parent: string): Promise<string> {
  try {
    return await mkdtemp(join(parent, '.astra-backup-'))
  } catch (cause) {
    throw new UnavailableError(`cannot write in ${parent}: ${errorText(cause)}`, { cause })
  }
}

async function copyRuns(
  { config, redis, interrupted }: Services,
  parts: string,
): Promise<{ at: string; count: number }> {
  const at = now()
  let count = 0
  const file = join(parts, RUNS_PART)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const lines = async function* () {
    for await (const run of readEndedRuns(redis)) {
      interrupted.throwIfAborted()
      await copyRunFiles(config.home, run.run_id, parts)
      count += 1
      yield `${JSON.stringify(run)}\n`
    }
  }
  await pipeline(lines, createWriteStream(file, { mode: 0o600 }))
  return { at, count }
}

type CopiedMemory = { at: string; records: number; store: BackupManifest['store'] }

async function copyMemory(
  services: Services,
  parts: string,
  onProgress: Progress,
): Promise<CopiedMemory> {
  const { config, interrupted } = services
  await mkdir(join(parts, 'memory'), { mode: 0o700 })
  if (config.ASTRA_STORE !== 'sqlite') {
    const at = now()
    const target = { file: join(parts, STORE_RECORDS), vectors: true }
    const { exported } = await exportMemory(services, target, (n) => onProgress(`${n} records`))
    return { at, records: exported, store: { kind: 'records', server: config.ASTRA_STORE } }
  }
  const newest = await newestRecord(services)
  const copy = join(parts, STORE_FILE)
  const progress = (share: number) => onProgress(`memory ${Math.floor(100 * share)} %`)
  const file = join(config.home, STORE_FILE)
  const { at, records, schema } = await copyStore(file, copy, { interrupted, onProgress: progress })
  requireWhole(file, copy, newest)
  return { at, records, store: { kind: 'sqlite', schema } }
}

async function newestRecord({ producer }: Services): Promise<string | null> {
  const { records } = await askMemory(producer, 'list', { limit: 1, offset: 0, session_id: null })
  return records[0]?.memory_id ?? null
}

/** A backup of a damaged memory, or of another than the memory-store's, would be found out too late. */
function requireWhole(file: string, copy: string, newest: string | null): void {
  const problem = storeProblem(copy)
  if (problem !== null) {
    throw new UnavailableError(`the memory ${file} is damaged: ${problem}`, {
      hint: 'no backup was written; put an earlier one in its place with `astra restore`',
    })
  }
  if (newest === null || holdsRecord(copy, newest)) return
  throw new UnavailableError(
    `${file} is not the memory that the memory-store has: ${newest} is missing`,
    {
      hint: 'take backups on the machine of the memory-store; if the record was just deleted, try again',
    },
  )
}

async function copyLedger(
  { config, redis }: Services,
  parts: string,
): Promise<{ ledgerAt: string; spent: Record<'live' | 'notional', Amounts> }> {
  const ledgerAt = now()
  const ledger = await readLedger(redis)
  await writeFile(join(parts, LEDGER_PART), JSON.stringify(ledger), { mode: 0o600 })
  // After the ledger: lines that its outbox still had are in the files or in the outbox.
  await copyEvidence(config.home, parts)
  const [live, notional] = ledgerScopes.map((scope) => stateOf(ledger[scope]).project)
  if (!live || !notional) throw new Error('a ledger has two scopes')
  return { ledgerAt, spent: { live, notional } }
}

async function listParts(folder: string): Promise<BackupManifest['parts']> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
  const parts: BackupManifest['parts'] = []
  for (const name of names) parts.push({ name, ...(await hashFile(join(folder, name))) })
  return parts
}
