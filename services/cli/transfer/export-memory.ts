import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { canonicalJson } from '../../../shared/canonical-json.ts'
import type { ExportResult } from '../../../shared/contracts/memory-transfer.ts'
import { errorText, UsageError } from '../../../shared/errors.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import type { Services } from '../with-services.ts'
import { openSortedSpool, type SortedSpool } from './sorted-spool.ts'

export type Exported = { exported: number; unreadable: string[] }

/**
 * Writes all records as JSON lines, by id, with sorted keys, so that two exports of the same records
 * are the same text and others differ where the records do. A file appears whole or not at all.
 */
export async function exportMemory(
  { producer, config, interrupted }: Services,
  target: { file: string | null; vectors: boolean },
  onProgress: (records: number) => void,
): Promise<Exported> {
  await mkdir(config.home, { recursive: true, mode: 0o700 })
  const spool = await openSortedSpool(config.home)
  try {
    const unreadable: string[] = []
    let after: string | null = null
    do {
      interrupted.throwIfAborted()
      const { vectors } = target
      const page: ExportResult = await askMemory(producer, 'export', { after, vectors })
      for (const record of page.records) await spool.add(record.memory_id, canonicalJson(record))
      unreadable.push(...page.unreadable)
      after = page.next
      onProgress(spool.size())
    } while (after !== null)
    if (target.file === null) await pipeline(spool.lines, process.stdout, { end: false })
    else await writeWhole(target.file, spool)
    return { exported: spool.size(), unreadable }
  } finally {
    await spool.remove()
  }
}

async function writeWhole(file: string, spool: SortedSpool): Promise<void> {
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    await pipeline(
      spool.lines,
      createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }),
    )
    await rename(partial, file)
  } catch (cause) {
    await rm(partial, { force: true })
    throw new UsageError(`cannot write ${file}: ${errorText(cause)}`, { cause })
  }
}
