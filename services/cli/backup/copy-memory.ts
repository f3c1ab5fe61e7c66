import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UnavailableError } from '../../../shared/errors.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import { exportMemory } from '../transfer/export-memory.ts'
import type { Services } from '../with-services.ts'
import { copyStore, holdsRecord, storeProblem } from './copy-store.ts'
import { type BackupManifest, STORE_FILE, STORE_RECORDS } from './manifest.ts'

type CopiedMemory = { at: string; records: number; store: BackupManifest['store'] }

/** The embedded store's file as it is at one moment, or the records that a server has. */
export async function copyMemory(
  services: Services,
  parts: string,
  onProgress: (line: string) => void,
): Promise<CopiedMemory> {
  const { config, interrupted } = services
  await mkdir(join(parts, 'memory'), { mode: 0o700 })
  if (config.ASTRA_STORE !== 'sqlite') {
    const at = new Date().toISOString()
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
