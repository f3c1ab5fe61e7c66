import type { Payload } from '../../shared/contracts/catalog.ts'
import {
  type ExportResult,
  TRANSFER_BYTES,
  type Transferred,
} from '../../shared/contracts/memory-transfer.ts'
import { encodeVector } from '../../shared/contracts/vector.ts'
import type { MemoryBackend, ScanEntry } from './backend.ts'

/** Records of one job, unless they are large: results go through Redis. */
const RECORDS = 20

/** Records from `after` on, as they are moved to another store. */
export async function exportMemory(
  { after, vectors }: Payload<'memory', 'export'>,
  backend: MemoryBackend,
): Promise<ExportResult> {
  for (let limit = RECORDS; ; limit = Math.ceil(limit / 2)) {
    const { entries, next } = await backend.scan(after, limit, { vectors })
    const records = entries.flatMap((entry) => transferred(entry) ?? [])
    // A single record goes as it is, however large.
    if (limit > 1 && Buffer.byteLength(JSON.stringify(records)) > TRANSFER_BYTES) continue
    const unreadable = entries.filter(({ record }) => !record).map(({ memory_id }) => memory_id)
    return { records, unreadable, next }
  }
}

function transferred({ record, vectors }: ScanEntry): Transferred | null {
  if (!record) return null
  if (!vectors) return record
  const { symptom, fix } = vectors
  return { ...record, vectors: { symptom: encodeVector(symptom), fix: encodeVector(fix) } }
}
