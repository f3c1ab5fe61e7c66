import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import {
  type Counter,
  type RecordVectors,
  type Revocable,
  receiptId,
  type UpsertOutcome,
} from '../backend.ts'
import { errorKey } from '../error-key.ts'
import type { Statements } from './statements.ts'
import { inTransaction } from './transaction.ts'
import { vectorBytes } from './vector-bytes.ts'

export function upsertRecord(
  db: DatabaseSync,
  statements: Statements,
  record: MemoryRecord,
  vectors: RecordVectors,
): UpsertOutcome {
  return inTransaction(db, () => {
    const owner = claimReceipt(statements, record)
    if (owner !== record.memory_id) return { status: 'receipt_used', memory_id: owner }
    const existing = statements.findId.get(record.memory_id)
    const id = existing
      ? updateRecord(statements, BigInt(Number(existing.id)), record, vectors)
      : insertRecord(statements, record, vectors)
    statements.writeText.run(id, record.error_type, record.symptom, record.fix_description)
    return { status: 'stored' }
  })
}

export function deleteRecord(db: DatabaseSync, statements: Statements, memoryId: string): boolean {
  return inTransaction(db, () => {
    const row = statements.findId.get(memoryId)
    if (!row) return false
    const id = BigInt(Number(row.id))
    statements.deleteVectors.run(id)
    statements.deleteText.run(id)
    statements.deleteRecord.run(id)
    return true
  })
}

/** The id of the record that the receipt belongs to: this one's, unless it stored another before. */
function claimReceipt(statements: Statements, record: MemoryRecord): string {
  if (!record.receipt) return record.memory_id
  const id = receiptId(record.receipt)
  statements.claimReceipt.run(id, record.memory_id)
  return String(statements.receiptOwner.get(id)?.memory_id)
}

/** Sets and takes back revocations; a record that is so already is not changed. */
export function setRevoked(
  db: DatabaseSync,
  statements: Statements,
  which: Revocable,
  at: string | null,
): number {
  return inTransaction(db, () => {
    const rows = Object.entries(which).flatMap(([column, value]) =>
      statements.setRevoked[revocableColumn(column)].all({ at, value }),
    )
    return refreshLive(statements, rows)
  })
}

function revocableColumn(name: string): 'memory_id' | 'session_id' | 'repository_id' {
  if (name === 'memory_id' || name === 'session_id' || name === 'repository_id') return name
  throw new TypeError(`records are not revoked by ${name}`)
}

export function supersede(
  db: DatabaseSync,
  statements: Statements,
  memoryIds: readonly string[],
  by: string | null,
): number {
  return inTransaction(db, () => {
    const rows = memoryIds.flatMap((memory_id) => statements.supersede.all({ memory_id, by }))
    return refreshLive(statements, rows)
  })
}

/** A count and the key that it is counted once for are written together or not at all. */
export function countRecords(
  db: DatabaseSync,
  statements: Statements,
  added: {
    memoryIds: readonly string[]
    counter: Counter
    key: string | undefined
    by: number
  },
): void {
  const { memoryIds, counter, key, by } = added
  inTransaction(db, () => {
    for (const memory_id of memoryIds) {
      if (key !== undefined && statements.claimCount.run({ memory_id, key }).changes === 0) continue
      statements.count[counter].run({ memory_id, by })
    }
  })
}

function refreshLive(statements: Statements, rows: Record<string, SQLOutputValue>[]): number {
  for (const { id } of rows) statements.refreshLive.run({ id: BigInt(Number(id)) })
  return rows.length
}

// Ids are bigint: node:sqlite binds a number as a float, which the text index refuses.

function insertRecord(
  statements: Statements,
  record: MemoryRecord,
  vectors: RecordVectors,
): bigint {
  const { memory_id, session_id, superseded_by, revoked_at, shown, confirmed, unconfirmed } = record
  const row = statements.insertRecord.get(
    memory_id,
    session_id,
    superseded_by,
    revoked_at,
    ...recordColumns(record),
  )
  const id = BigInt(Number(row?.id))
  const live = superseded_by === null && revoked_at === null ? 1n : 0n
  statements.insertCounters.run(id, shown, confirmed, unconfirmed)
  statements.insertVectors.run(...vectorColumns(record, vectors), live, id)
  return id
}

function updateRecord(
  statements: Statements,
  id: bigint,
  record: MemoryRecord,
  vectors: RecordVectors,
): bigint {
  statements.updateRecord.run(...recordColumns(record), id)
  statements.updateVectors.run(...vectorColumns(record, vectors), id)
  return id
}

function recordColumns(record: MemoryRecord) {
  const { error_type, timestamp, repository_id, group } = record
  return [
    errorKey(error_type),
    Date.parse(timestamp),
    repository_id,
    group,
    storedJson(record),
  ] as const
}

function vectorColumns(record: MemoryRecord, { symptom, fix }: RecordVectors) {
  return [
    vectorBytes(symptom),
    vectorBytes(fix),
    errorKey(record.error_type),
    BigInt(Date.parse(record.timestamp)),
    scopeKey(record.repository_id),
    scopeKey(record.group),
  ] as const
}

/** In memory there is no null: no scope is the empty text, which no name gives. */
export function scopeKey(name: string | null): string {
  return name === null ? '' : `=${name}`
}

/** Without the fields that have columns of their own, because they change later. */
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
