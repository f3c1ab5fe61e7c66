import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import {
  type Counter,
  type RecordVectors,
  type Revocable,
  receiptId,
  type UpsertOutcome,
} from '../backend.ts'
import { has } from '../points/live-filter.ts'
import { isPointId } from '../points/point-id.ts'
import {
  countPayload,
  keptState,
  NONE,
  type Payload,
  readState,
  recordPayload,
  revocation,
  succession,
} from '../points/record-payload.ts'
import { claimReceipt } from './claim-receipt.ts'
import type { Collection, Point } from './collection.ts'
import { isMain, notMain, receiptTombstone, symptomIdOf, symptomPoint } from './record-points.ts'

/**
 * The symptom's point is written first, then the main one, which makes the record what it is; what
 * an older version left is deleted last. A process that dies in between leaves the record as it was.
 */
export async function upsertRecord(
  collection: Collection,
  record: MemoryRecord,
  vectors: RecordVectors,
): Promise<UpsertOutcome> {
  const before = await mainPoint(collection, record.memory_id, true)
  const kept = before ? keptState(before.payload) : {}
  const payload = { ...recordPayload(record), ...kept, claim: 'held' }
  const symptom = symptomPoint(record, vectors, payload)
  const { memory_id: id } = record
  const main = { ...payload, symptom_point: symptom?.id ?? NONE }
  const write = async (claim: Payload) => {
    if (symptom) await collection.upsert([symptom])
    await collection.upsert([{ id, vector: vectors.fix, payload: { ...main, ...claim } }])
  }

  const used = before?.payload.receipt_id
  const wanted = record.receipt ? receiptId(record.receipt) : null
  if (wanted !== null && used !== wanted) {
    const owner = await claimReceipt(collection, {
      receiptId: wanted,
      memoryId: id,
      write: () => write({ claim: 'pending', claimed_ms: Date.now() }),
      withdraw: () => restore(collection, record.memory_id, before, symptom?.id),
    })
    if (owner !== null) return { status: 'receipt_used', memory_id: owner }
  }
  if (typeof used === 'string' && used !== wanted) {
    // Another receipt of the same record stays used.
    const { fix: vector } = vectors
    await collection.upsert([receiptTombstone(used, { memory_id: id, vector })])
  }
  await write({})
  const old = await symptomPoints(collection, id)
  await collection.delete(old.filter((each) => each !== symptom?.id))
  return { status: 'stored' }
}

async function restore(
  collection: Collection,
  id: string,
  before: Point | null,
  written: string | undefined,
): Promise<void> {
  const { vector, payload } = before ?? {}
  if (vector && payload) await collection.upsert([{ id, vector, payload }])
  else await collection.delete([id])
  if (written !== undefined && written !== symptomIdOf(payload ?? {})) {
    await collection.delete([written])
  }
}

/** Null for what is no record, or none yet. */
export async function mainPoint(
  collection: Collection,
  id: string,
  withVector = false,
): Promise<Point | null> {
  const [point] = await collection.get([id], withVector)
  return point && isMain(point) ? point : null
}

async function symptomPoints(collection: Collection, memoryId: string): Promise<string[]> {
  const must = [has('kind', 'symptom'), has('memory_id', memoryId)]
  return (await collection.all({ must })).map(({ id }) => id)
}

export async function addTo(
  collection: Collection,
  id: string,
  added: { counter: Counter; key: string | undefined; by: number },
): Promise<void> {
  const point = await mainPoint(collection, id)
  const counted = point && countPayload(point.payload, added)
  if (counted) await collection.setPayload([id], counted)
}

/** The ids of the records that these words name. */
export async function revocableIds(collection: Collection, which: Revocable): Promise<string[]> {
  if ('memory_id' in which) return isPointId(which.memory_id) ? [which.memory_id] : []
  const must = Object.entries(which).map(([key, value]) => has(key, value))
  return (await collection.all({ must, must_not: notMain })).map(({ id }) => id)
}

export async function setRevoked(
  collection: Collection,
  memoryIds: readonly string[],
  at: string | null,
): Promise<number> {
  const chosen = (await collection.get(memoryIds)).filter(isMain)
  const isRevoked = ({ payload }: Point) => readState(payload).revoked_at !== null
  const changed = chosen.filter((point) => isRevoked(point) === (at === null))
  await setForAll(collection, changed, revocation({ revoked_at: at }), at === null)
  return changed.length
}

export async function supersede(
  collection: Collection,
  memoryIds: readonly string[],
  by: string | null,
): Promise<number> {
  const chosen = (await collection.get(memoryIds)).filter(isMain)
  const changed = chosen.filter(({ payload }) => readState(payload).superseded_by !== by)
  await setForAll(collection, changed, succession({ superseded_by: by }), by === null)
  return changed.length
}

/** The main points count, so they hide first and come back last. */
async function setForAll(
  collection: Collection,
  mains: Point[],
  changes: Payload,
  back: boolean,
): Promise<void> {
  const symptoms = mains.flatMap(({ payload }) => symptomIdOf(payload) ?? [])
  const steps = [mains.map(({ id }) => id), symptoms]
  for (const ids of back ? steps.reverse() : steps) await collection.setPayload(ids, changes)
}

export async function deleteRecord(collection: Collection, id: string): Promise<boolean> {
  const main = await mainPoint(collection, id, true)
  if (!main) return false
  const { receipt_id } = main.payload
  if (typeof receipt_id === 'string' && main.vector) {
    const { vector } = main
    await collection.upsert([receiptTombstone(receipt_id, { memory_id: id, vector })])
  }
  await collection.delete([id])
  await collection.delete(await symptomPoints(collection, id))
  return true
}
