import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import { DIMENSIONS } from '../../../shared/contracts/vector.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import { loadTrustedKeys } from '../../../shared/keys/trusted-keys.ts'
import type { MemoryBackend, RecordVectors, UpsertOutcome } from '../backend.ts'
import { requireUnitVector } from '../unit-vector.ts'
import { nearDuplicates } from './near-duplicates.ts'

/**
 * Stores a record and lets it stand for the near-duplicates that were confirmed before it: it takes
 * over their counters and names them, and they keep all that they hold, receipts too. Of two records
 * it is always the later one that stands for the other, whoever stores first or looks first, so that
 * no two can stand for each other; one that comes late is itself stood for.
 */
export async function storeMerged(
  { backend, home }: { backend: MemoryBackend; home: string },
  record: MemoryRecord,
  vectors: RecordVectors,
): Promise<UpsertOutcome> {
  // First of all: a look for near-duplicates would call it the query's.
  requireUnitVector('symptom', vectors.symptom, DIMENSIONS)
  requireUnitVector('fix', vectors.fix, DIMENSIONS)
  const trusted = loadTrustedKeys(home)
  const find = () => nearDuplicates({ backend, trusted }, record, vectors)
  const existing = await backend.get(record.memory_id)
  const isOut = existing && (existing.revoked_at !== null || existing.superseded_by !== null)
  const before = isOut ? [] : (await find()).filter((other) => isLater(record, other))
  const merging = takingOver(record, existing, before)
  const outcome = await backend.upsert(merging, vectors)
  if (outcome.status !== 'stored' || isOut) return outcome
  crashPoint('memory.upserted')

  // Again: what another process has stored meanwhile saw this one, or is seen here.
  const after = await find()
  const older = after.filter((other) => isLater(record, other))
  const missed = older.filter(({ memory_id }) => !merging.merged.includes(memory_id))
  if (missed.length > 0) await backend.upsert(takingOver(merging, merging, missed), vectors)
  await supersede(backend, older, record)
  const [newest] = after.filter((other) => isLater(other, record)).sort(latestFirst)
  if (newest) await supersede(backend, [record], newest)
  return outcome
}

/** Counters are those of a new record alone: one that is there has taken them over already. */
function takingOver(
  record: MemoryRecord,
  existing: MemoryRecord | null,
  older: readonly MemoryRecord[],
): MemoryRecord {
  const sum = (counter: 'shown' | 'confirmed' | 'unconfirmed') =>
    older.reduce((total, each) => total + each[counter], record[counter])
  const ids = [existing?.merged ?? [], ...older.map((each) => [each.memory_id, ...each.merged])]
  return {
    ...record,
    merged: [...new Set(ids.flat())],
    shown: sum('shown'),
    confirmed: sum('confirmed'),
    unconfirmed: sum('unconfirmed'),
  }
}

async function supersede(
  backend: MemoryBackend,
  older: readonly MemoryRecord[],
  by: MemoryRecord,
): Promise<void> {
  if (older.length === 0) return
  await backend.supersede(
    older.map(({ memory_id }) => memory_id),
    by.memory_id,
  )
  crashPoint('memory.superseded')
}

/** A total order, the same in every process: by confirmation, then by id. */
function isLater(one: MemoryRecord, other: MemoryRecord): boolean {
  return latestFirst(one, other) < 0
}

function latestFirst(one: MemoryRecord, other: MemoryRecord): number {
  const apart = Date.parse(other.timestamp) - Date.parse(one.timestamp)
  if (apart !== 0) return apart
  return one.memory_id > other.memory_id ? -1 : 1
}
