import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import { DIMENSIONS } from '../../../shared/contracts/vector.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import { loadTrustedKeys } from '../../../shared/keys/trusted-keys.ts'
import type { Counter, MemoryBackend, RecordVectors, UpsertOutcome } from '../backend.ts'
import { requireUnitVector } from '../unit-vector.ts'
import { nearDuplicates } from './near-duplicates.ts'

type Deps = { backend: MemoryBackend; home: string }
type Find = () => Promise<MemoryRecord[]>

/**
 * Stores a record and lets it stand for the near-duplicates that were confirmed before it: it takes
 * over their counters and names them, and they keep all that they hold, receipts too. Of two records
 * it is always the later one that stands for the other, whoever stores first or looks first, so that
 * no two can stand for each other; one that comes late is itself stood for.
 */
export async function storeMerged(
  { backend, home }: Deps,
  record: MemoryRecord,
  vectors: RecordVectors,
): Promise<UpsertOutcome> {
  // First of all: a look for near-duplicates would call it the query's.
  requireUnitVector('symptom', vectors.symptom, DIMENSIONS)
  requireUnitVector('fix', vectors.fix, DIMENSIONS)
  const find = finder({ backend, home }, record, vectors)
  const existing = await backend.get(record.memory_id)
  // A record of elsewhere can be out of searches when it comes.
  const isOut = !isLive(existing ?? record)
  const before = isOut ? [] : (await find()).filter((other) => isLater(record, other))
  const merging = takingOver(record, existing, before)
  const outcome = await backend.upsert(merging, vectors)
  if (outcome.status !== 'stored' || isOut) return outcome
  crashPoint('memory.upserted')
  await settle({ backend, find }, merging, vectors)
  return outcome
}

/** Ends the merging of a record that is there, when the process died over it. */
export async function endMerge(
  deps: Deps,
  record: MemoryRecord,
  vectors: RecordVectors,
): Promise<void> {
  if (!isLive(record)) return
  await settle({ ...deps, find: finder(deps, record, vectors) }, record, vectors)
}

function finder({ backend, home }: Deps, record: MemoryRecord, vectors: RecordVectors): Find {
  const trusted = loadTrustedKeys(home)
  return () => nearDuplicates({ backend, trusted }, record, vectors)
}

/** Looks again: what another process has stored meanwhile saw this record, or is seen here. */
async function settle(
  { backend, find }: { backend: MemoryBackend; find: Find },
  record: MemoryRecord,
  vectors: RecordVectors,
): Promise<void> {
  const found = await find()
  const older = found.filter((other) => isLater(record, other))
  const missed = notMerged(record, older)
  if (missed.length > 0) {
    await addCounters(backend, record, missed)
    await backend.upsert(takingOver(record, record, missed), vectors)
  }
  await supersede(backend, older, record)
  const [newest] = found.filter((other) => isLater(other, record)).sort(latestFirst)
  if (!newest) return
  const own = (await backend.get(record.memory_id)) ?? record
  await addCounters(backend, newest, notMerged(newest, [own]))
  await supersede(backend, [record], newest)
}

/** Counters are those of a new record alone: one that is there has taken them over already. */
function takingOver(
  record: MemoryRecord,
  existing: MemoryRecord | null,
  older: readonly MemoryRecord[],
): MemoryRecord {
  const added = notMerged(record, older)
  const sum = (counter: Counter) =>
    added.reduce((total, each) => total + each[counter], record[counter])
  const ids = older.map((each) => [each.memory_id, ...each.merged])
  return {
    ...record,
    merged: [...new Set([existing?.merged ?? [], record.merged, ...ids].flat())],
    shown: sum('shown'),
    confirmed: sum('confirmed'),
    unconfirmed: sum('unconfirmed'),
  }
}

/** Those whose counters are not in the record's yet. */
function notMerged({ merged }: MemoryRecord, others: readonly MemoryRecord[]): MemoryRecord[] {
  return others.filter(({ memory_id }) => !merged.includes(memory_id))
}

/** To a record that is there, once for each of the others. */
async function addCounters(
  backend: MemoryBackend,
  to: MemoryRecord,
  others: readonly MemoryRecord[],
): Promise<void> {
  for (const other of others) {
    for (const counter of ['shown', 'confirmed', 'unconfirmed'] as const) {
      const key = `merged ${other.memory_id} ${counter}`
      if (other[counter] > 0) await backend.count([to.memory_id], counter, key, other[counter])
    }
  }
}

function isLive({ revoked_at, superseded_by }: MemoryRecord): boolean {
  return revoked_at === null && superseded_by === null
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
