import { z } from 'zod'
import { type MemoryRecord, memoryRecordSchema } from '../../../shared/contracts/record.ts'
import { type Counter, receiptId } from '../backend.ts'
import { errorKey } from '../error-key.ts'

/** What a point of a vector server carries beside its vectors. */
export type Payload = Record<string, unknown>

/**
 * A field that says nothing: a word, as filters match a word at every server, which cannot be said of
 * flags, empty texts and null.
 */
export const NONE = 'none'

/** Of a record: counters and what takes it out of every search, which change after it was stored. */
export type RecordState = Pick<
  MemoryRecord,
  'shown' | 'confirmed' | 'unconfirmed' | 'revoked_at' | 'superseded_by'
>

/**
 * A record as a payload: flat, for the filters of the server. The seven fields of the tutorial's
 * program stand as it writes them. `record` is the whole record as JSON; what can be absent is
 * left out, because servers differ in what null means.
 */
export function recordPayload(record: MemoryRecord): Payload {
  const { memory_id, fix_description, error_type, outcome, file_paths, timestamp, session_id } =
    record
  const { repository_id, group, receipt } = record
  return {
    kind: 'record',
    memory_id,
    fix_description,
    error_type,
    outcome,
    file_paths,
    timestamp,
    session_id,
    record: storedJson(record),
    error_key: errorKey(error_type),
    confirmed_ms: Date.parse(timestamp),
    ...(repository_id === null ? {} : { repository_id }),
    ...(group === null ? {} : { group }),
    ...(receipt === null ? {} : { receipt_id: receiptId(receipt) }),
    ...statePayload(record),
  }
}

/** The part of a payload that changes: whole, so that writing it can also take something back. */
function statePayload(state: RecordState): Payload {
  const { shown, confirmed, unconfirmed } = state
  return { shown, confirmed, unconfirmed, ...revocation(state), ...succession(state) }
}

/** For a record that is written again: what its payload had before stays as it was. */
export function keptState(before: Payload): Payload {
  return { ...statePayload(readState(before)), counted_for: countedFor(before) }
}

/** Keys that a record remembers to have been counted for: older ones would count again. */
const KEYS_KEPT = 200

/**
 * The fields to set for that much more on a counter; null when it was counted for that key before, on
 * whichever counter.
 */
export function countPayload(
  before: Payload,
  { counter, key, by }: { counter: Counter; key: string | undefined; by: number },
): Payload | null {
  const counted = countedFor(before)
  if (key !== undefined && counted.includes(key)) return null
  return {
    [counter]: readState(before)[counter] + by,
    ...(key === undefined ? {} : { counted_for: [key, ...counted].slice(0, KEYS_KEPT) }),
  }
}

function countedFor({ counted_for }: Payload): unknown[] {
  return Array.isArray(counted_for) ? counted_for : []
}

export function revocation({ revoked_at }: Pick<RecordState, 'revoked_at'>): Payload {
  return { revoked_at: revoked_at ?? NONE }
}

export function succession({ superseded_by }: Pick<RecordState, 'superseded_by'>): Payload {
  return { superseded_by: superseded_by ?? NONE }
}

const count = z.coerce.number().int().nonnegative().catch(0)
const orNull = z
  .string()
  .transform((text) => (text === NONE ? null : text))
  .nullable()
  .catch(null)
const stateSchema = z.object({
  shown: count,
  confirmed: count,
  unconfirmed: count,
  revoked_at: orNull,
  superseded_by: orNull,
})

export function readState(payload: Payload): RecordState {
  return stateSchema.parse(payload)
}

/** The payload of a point, which a server may give as an object or as JSON; null for anything else. */
export function readPayload(given: unknown): Payload | null {
  const value = typeof given === 'string' ? parsedJson(given) : given
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Payload) : null
}

/** The record of a payload, ours or the tutorial's; null for one that cannot be read. */
export function readRecord(payload: Payload): MemoryRecord | null {
  const stored = payload.kind === undefined ? tutorialRecord(payload) : ownRecord(payload)
  const parsed = memoryRecordSchema.safeParse(stored)
  return parsed.success ? parsed.data : null
}

function ownRecord(payload: Payload): unknown {
  const stored = readPayload(payload.record)
  return stored && { ...stored, ...readState(payload) }
}

/** Its program keeps no evidence and no receipt, so that such a record is never a proved one. */
function tutorialRecord(payload: Payload): unknown {
  const { memory_id, fix_description, error_type, outcome, file_paths, timestamp, session_id } =
    payload
  return {
    memory_id,
    fix_description,
    error_type,
    outcome,
    file_paths: typeof file_paths === 'string' ? parsedJson(file_paths) : file_paths,
    timestamp,
    session_id,
    symptom_raw: '',
    symptom: '',
    diff: '',
    language: null,
    framework: null,
    repository_id: null,
    failing_tests: [],
    model: '',
    receipt: null,
    ...readState(payload),
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Without the fields of RecordState, which stand beside it in the payload. */
function storedJson(record: MemoryRecord): string {
  const {
    shown: _shown,
    confirmed: _confirmed,
    unconfirmed: _unconfirmed,
    superseded_by: _successor,
    revoked_at: _revoked,
    ...stored
  } = record
  return JSON.stringify(stored)
}
