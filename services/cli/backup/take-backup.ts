import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Amounts, ledgerScopes } from '../../../shared/contracts/ledger.ts'
import { errorText, UnavailableError } from '../../../shared/errors.ts'
import { productVersion } from '../../../shared/product-version.ts'
import type { Services } from '../with-services.ts'
import { copyEvidence, copyKeys, copyRunFiles } from './copy-files.ts'
import { copyMemory } from './copy-memory.ts'
import { readEndedRuns } from './ended-runs.ts'
import { hashFile } from './hash-file.ts'
import { stateOf } from './ledger-state.ts'
import { BACKUP_FORMAT, type BackupManifest, LEDGER_PART, RUNS_PART } from './manifest.ts'
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
