import { v5 as uuidv5 } from 'uuid'
import { sha256 } from '../../../shared/contracts/ids.ts'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { RecordVectors } from '../backend.ts'
import { type Condition, has } from '../points/live-filter.ts'
import { NONE, type Payload, readRecord } from '../points/record-payload.ts'
import type { Collection, NewPoint, Point } from './collection.ts'

/*
 * VectorAI DB keeps one vector a point, so a record is two points. The main one has the record's id
 * and the vector of its fix, as in the tutorial's program, and is what counts: it names the point
 * with the vector of the symptom, and a symptom's point that no main one names is passed over. A
 * record without a symptom is one point. A used receipt whose record is gone is a point as well.
 */

const isSymptom = has('kind', 'symptom')
const isReceipt = has('kind', 'receipt')
/** Written to claim a receipt, and not stored yet. */
const isPending = has('claim', 'pending')

/** Main points, ours and those of the tutorial's program, which have no kind. */
export const notMain: Condition[] = [isSymptom, isReceipt, isPending]
/** What our own program wrote. */
export const ours: Condition[] = [has('kind', 'record'), isSymptom, isReceipt]

export function isMain({ payload }: Point): boolean {
  const { kind, claim } = payload
  return (kind === 'record' && claim !== 'pending') || kind === undefined
}

/** Another vector is another point, so that the main one can change to it in one step. */
function symptomId(memoryId: string, symptom: Float32Array): string {
  return uuidv5(`${memoryId}\n${sha256(new Uint8Array(symptom.buffer.slice()))}`, uuidv5.URL)
}

export function symptomPoint(
  { memory_id }: MemoryRecord,
  { symptom, fix }: RecordVectors,
  payload: Payload,
): NewPoint | null {
  if (symptom.every((value, i) => value === fix[i])) return null
  const { record: _whole, receipt_id: _receipt, ...searched } = payload
  const id = symptomId(memory_id, symptom)
  return { id, vector: symptom, payload: { ...searched, kind: 'symptom' } }
}

export function receiptTombstone(
  receipt_id: string,
  { memory_id, vector }: { memory_id: string; vector: Float32Array },
): NewPoint {
  const payload = { kind: 'receipt', receipt_id, memory_id }
  return { id: uuidv5(receipt_id, uuidv5.URL), vector, payload }
}

/** The id of a main point's other one; null for a record of one point. */
export function symptomIdOf(payload: Payload): string | null {
  const { symptom_point } = payload
  return typeof symptom_point === 'string' && symptom_point !== NONE ? symptom_point : null
}

export type StoredRecord = {
  id: string
  payload: Payload
  record: MemoryRecord | null
  vectors: RecordVectors | null
}

/** The records of these main points with both vectors. `mains` have their own vector. */
export async function withVectors(
  collection: Collection,
  mains: readonly Point[],
): Promise<StoredRecord[]> {
  const others = mains.flatMap(({ payload }) => symptomIdOf(payload) ?? [])
  const points = await collection.get(others, true)
  const symptoms = new Map(points.map(({ id, vector }) => [id, vector]))
  return mains.map(({ id, payload, vector: fix }) => {
    const other = symptomIdOf(payload)
    const symptom = other === null ? fix : (symptoms.get(other) ?? null)
    return {
      id,
      payload,
      record: readRecord(payload),
      vectors: fix && symptom ? { symptom, fix } : null,
    }
  })
}
