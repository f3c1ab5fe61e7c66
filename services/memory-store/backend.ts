import { canonicalJson } from '../../shared/canonical-json.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Receipt } from '../../shared/contracts/receipt.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'

/** Unit vectors of a record. One without a symptom has its fix's vector in both places. */
export type RecordVectors = { symptom: Float32Array; fix: Float32Array }

/** `cosine` is that of the better of the record's two vectors, -1 to 1. */
export type Candidate = { record: MemoryRecord; cosine: number }

export type UpsertOutcome =
  | { status: 'stored' }
  /** The receipt has stored another record before: nothing was changed. */
  | { status: 'receipt_used'; memory_id: string }

export type ListPage = { limit: number; offset: number; session_id: string | null }

export type ScanPage = {
  entries: { memory_id: string; session_id: string; record: MemoryRecord | null }[]
  next: string | null
}

/**
 * Where records are kept. Ids are UUIDs, every effect may be repeated, and a record is live while
 * it is neither revoked nor superseded. Error types compare by `errorKey`.
 */
export type MemoryBackend = {
  /**
   * Adds a record or replaces the one of that id, whole or not at all. An existing record keeps
   * its counters, its revocation and its successor. A receipt (`receiptId`) belongs to the first
   * record it stored, even after that was deleted. Throws MemoryValidationError for a vector of
   * another length or not of unit length.
   */
  upsert(record: MemoryRecord, vectors: RecordVectors): Promise<UpsertOutcome>
  /** The `limit` nearest live records, best first; `errorType: null` takes all error types. */
  search(
    vector: Float32Array,
    options: { errorType: string | null; limit: number },
  ): Promise<Candidate[]>
  /** How many records `search` could choose from. */
  countLive(errorType: string | null): Promise<number>
  /** Adds one to the `shown` counter of each record; unknown ids are passed over. */
  countShown(memoryIds: readonly string[]): Promise<void>
  get(memoryId: string): Promise<MemoryRecord | null>
  /** Newest first by the time of confirmation, with the number of all that fit `session_id`. */
  list(page: ListPage): Promise<{ records: MemoryRecord[]; total: number }>
  /**
   * Up to `limit` records in an order that stores and deletions do not change, from where `next` of
   * an earlier call says; `record` is null for one that cannot be read. `next` is null at the end.
   */
  scan(after: string | null, limit: number): Promise<ScanPage>
  /** False when there is no such record. */
  delete(memoryId: string): Promise<boolean>
  close(): Promise<void>
}

/** What a receipt is told apart by: its body alone, as a signature can be written in several ways. */
export function receiptId(receipt: Receipt): string {
  return sha256(canonicalJson(receipt.body))
}
