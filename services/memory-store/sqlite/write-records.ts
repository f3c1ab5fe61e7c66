import type { DatabaseSync } from 'node:sqlite'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import { type RecordVectors, receiptId, type UpsertOutcome } from '../backend.ts'
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

// Ids and flags are bigint: node:sqlite binds a number as a float, which vec0 refuses.

function insertRecord(
  statements: Statements,
  record: MemoryRecord,
  vectors: RecordVectors,
): bigint {
  const key = errorKey(record.error_type)
  const row = statements.insertRecord.get(
    record.memory_id,
    record.session_id,
    key,
    Date.parse(record.timestamp),
    storedJson(record),
    record.superseded_by,
    record.revoked_at,
  )
  const id = BigInt(Number(row?.id))
  const live = record.superseded_by === null && record.revoked_at === null ? 1n : 0n
  statements.insertCounters.run(id, record.shown)
  const { symptom, fix } = vectors
  statements.insertVectors.run(vectorBytes(symptom), vectorBytes(fix), key, live, id)
  return id
}

function updateRecord(
  statements: Statements,
  id: bigint,
  record: MemoryRecord,
  vectors: RecordVectors,
): bigint {
  const key = errorKey(record.error_type)
  statements.updateRecord.run(key, Date.parse(record.timestamp), storedJson(record), id)
  statements.updateVectors.run(vectorBytes(vectors.symptom), vectorBytes(vectors.fix), key, id)
  return id
}

/** Without the fields that have columns of their own, because they change later. */
function storedJson(record: MemoryRecord): string {
  const { shown: _shown, superseded_by: _successor, revoked_at: _revoked, ...stored } = record
  return JSON.stringify(stored)
}
