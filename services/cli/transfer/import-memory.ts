import {
  IMPORT_RECORDS,
  type ImportOutcome,
  TRANSFER_BYTES,
  type Transferred,
} from '../../../shared/contracts/memory-transfer.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import { scrubRecord } from '../../../shared/scrub/scrub-record.ts'
import type { Scrubber } from '../../../shared/scrub/scrubber.ts'
import type { Services } from '../with-services.ts'
import { type ReadLine, readRecords } from './read-records.ts'

export type Imported = {
  imported: number
  /** Of those, the ones that no trusted key proves: they are labelled so. */
  unproved: number
  /** They were there before, and were not changed. */
  present: number
  refused: { line: number; message: string }[]
}

type Placed = { line: number; record: Transferred; bytes: number }

/**
 * Takes records in, line by line. One that cannot be taken is refused by its number, and all others
 * go on; what is there already is left alone, so an import that was cut off is simply made again.
 */
export async function importMemory(
  services: Services,
  source: { file: string | null; scrub: Scrubber },
  onProgress: (sum: Imported) => void,
): Promise<Imported> {
  const sum: Imported = { imported: 0, unproved: 0, present: 0, refused: [] }
  let batch: Placed[] = []
  const send = async () => {
    await importBatch(services, batch, sum)
    batch = []
    onProgress(sum)
  }
  for await (const read of readRecords(source.file, services.interrupted)) {
    const clean = await scrubbed(read, source.scrub)
    if ('problem' in clean) {
      sum.refused.push({ line: clean.line, message: clean.problem })
      continue
    }
    const bytes = batch.reduce((total, each) => total + each.bytes, clean.bytes)
    const isFull = batch.length === IMPORT_RECORDS || bytes > TRANSFER_BYTES
    if (isFull && batch.length > 0) await send()
    batch.push(clean)
  }
  if (batch.length > 0) await send()
  return sum
}

/** Before anything of it is embedded; the store does it again. */
async function scrubbed(read: ReadLine, scrub: Scrubber): Promise<ReadLine> {
  if ('problem' in read) return read
  const { vectors, ...record } = read.record
  const clean = await scrubRecord(record, scrub)
  if ('secret' in clean) return { line: read.line, problem: clean.secret }
  const kept = clean.record.symptom === record.symptom ? vectors : undefined
  return { ...read, record: { ...clean.record, ...(kept && { vectors: kept }) } }
}

/** First without making vectors, which takes long: most of a repeated import is there already. */
async function importBatch(
  { producer, interrupted }: Services,
  batch: readonly Placed[],
  sum: Imported,
): Promise<void> {
  interrupted.throwIfAborted()
  const records = batch.map(({ record }) => record)
  const { outcomes } = await askMemory(producer, 'import', { records })
  const bare = batch.filter((_, i) => outcomes[i]?.status === 'needs_vectors')
  add(sum, batch, outcomes)
  if (bare.length === 0) return
  const texts = bare.flatMap(({ record }) => [record.symptom || '-', record.fix_description])
  const again = bare.map(({ record: { vectors: _unusable, ...record } }) => record)
  add(sum, bare, (await askMemory(producer, 'import', { records: again }, { texts })).outcomes)
}

function add(sum: Imported, batch: readonly Placed[], outcomes: ImportOutcome[]): void {
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status === 'imported') {
      sum.imported += 1
      if (!outcome.proved) sum.unproved += 1
    }
    if (outcome.status === 'present') sum.present += 1
    if (outcome.status === 'refused') {
      sum.refused.push({ line: batch[i]?.line ?? 0, message: outcome.message })
    }
  }
}
