import type { SQLOutputValue } from 'node:sqlite'
import { type MemoryRecord, memoryRecordSchema } from '../../../shared/contracts/record.ts'
import type { RecordVectors, ScanPage } from '../backend.ts'
import type { Statements } from './statements.ts'
import { vectorOf } from './vector-bytes.ts'

type Row = Record<string, SQLOutputValue>

/** The record of a row; null without a row, and for one that cannot be read. */
export function readRecord(row: Row | undefined): MemoryRecord | null {
  if (!row) return null
  const { shown, confirmed, unconfirmed, superseded_by, revoked_at } = row
  const state = { shown, confirmed, unconfirmed, superseded_by, revoked_at }
  const parsed = memoryRecordSchema.safeParse({ ...parsedJson(row.record), ...state })
  return parsed.success ? parsed.data : null
}

function parsedJson(text: SQLOutputValue | undefined): object | null {
  try {
    return JSON.parse(String(text))
  } catch {
    return null
  }
}

/** In the order of insertion: what is stored meanwhile comes last. */
export function scanRecords(
  statements: Statements,
  after: string | null,
  limit: number,
  withVectors: boolean,
): ScanPage {
  const rows = statements.scan.all(BigInt(after ?? 0), limit)
  const last = rows.length < limit ? undefined : rows.at(-1)
  return {
    entries: rows.map((row) => ({
      memory_id: String(row.memory_id),
      session_id: String(row.session_id),
      record: readRecord(row),
      vectors: withVectors ? readVectors(statements, Number(row.id)) : null,
    })),
    next: last ? String(last.id) : null,
  }
}

/** Null when there is no row of that id. */
export function readVectors(statements: Statements, id: number): RecordVectors | null {
  const row = statements.vectorsOf.get(BigInt(id))
  if (!(row?.symptom instanceof Uint8Array && row.fix instanceof Uint8Array)) return null
  return { symptom: vectorOf(row.symptom), fix: vectorOf(row.fix) }
}
