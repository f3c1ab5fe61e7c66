import { canonicalJson } from '../../shared/canonical-json.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Receipt } from '../../shared/contracts/receipt.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import type { ListFilter } from './list-filter.ts'

/** Unit vectors of a record. One without a symptom has its fix's vector in both places. */
export type RecordVectors = { symptom: Float32Array; fix: Float32Array }

export type Candidate = {
  record: MemoryRecord
  /** Of the better of the query's vectors with each of the record's, -1 to 1. */
  cosine: { symptom: number; fix: number }
  /**
   * BM25 over error type, symptom and fix, by the terms of `retrieval/terms.ts`; higher is better.
   * 0 for a record that was found by its vectors alone.
   */
  lexical: number
}

/** What a search may choose from; records that are revoked or superseded never are. */
export type LiveFilter = {
  /** Compared by `errorKey`; null takes all error types. */
  errorType: string | null
  /** Null takes all. A record without repository or group is in no scope. */
  scope: { repository_id: string } | { group: string } | null
  /** An ISO time: what was confirmed before it has expired. */
  notBefore: string | null
}

export type CandidateQuery = LiveFilter & {
  vectors: readonly Float32Array[]
  /** Normalised; its terms are looked up. */
  text: string
  limit: number
}

export type Counter = 'shown' | 'confirmed' | 'unconfirmed'
export type Revocable = { memory_id: string } | { session_id: string } | { repository_id: string }

export type UpsertOutcome =
  | { status: 'stored' }
  /** The receipt has stored another record before: nothing was changed. */
  | { status: 'receipt_used'; memory_id: string }

export type ListPage = ListFilter & { limit: number; offset: number; session_id: string | null }

export type ScanEntry = {
  memory_id: string
  session_id: string
  /** Null for one that cannot be read. */
  record: MemoryRecord | null
  /** Null where they were not asked for. */
  vectors: RecordVectors | null
}
export type ScanPage = { entries: ScanEntry[]; next: string | null }

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
  /**
   * Live records, each once: the `limit` nearest by their symptom, the `limit` nearest by their
   * fix, and the `limit` best by words, in no order that means anything.
   */
  candidates(query: CandidateQuery): Promise<Candidate[]>
  /** How many records `candidates` could choose from. */
  countLive(filter: LiveFilter): Promise<number>
  /** How many records a repository has, whatever their state. */
  countOfRepository(repositoryId: string): Promise<number>
  /**
   * Adds one, or `by`, to a counter of each record; unknown ids are passed over. With a key a record is
   * counted once for that key, on whichever counter came first, however often this is repeated.
   */
  count(
    memoryIds: readonly string[],
    counter: Counter,
    onceForKey?: string,
    by?: number,
  ): Promise<void>
  /** Revokes what is not revoked yet, or with null brings back what is; says how many changed. */
  setRevoked(which: Revocable, at: string | null): Promise<number>
  /** Names the record that stands for these from now on, or none again; says how many changed. */
  supersede(memoryIds: readonly string[], by: string | null): Promise<number>
  /** Ids of the records that this one stands for, whether it is there itself or not. */
  supersededBy(memoryId: string): Promise<string[]>
  get(memoryId: string): Promise<MemoryRecord | null>
  /** Newest first by the time of confirmation, with the number of all that fit the filter. */
  list(page: ListPage): Promise<{ records: MemoryRecord[]; total: number }>
  /**
   * Up to `limit` records in an order that stores and deletions do not change, from where `next` of
   * an earlier call says. `next` is null at the end.
   */
  scan(after: string | null, limit: number, options?: { vectors: boolean }): Promise<ScanPage>
  /** False when there is no such record. */
  delete(memoryId: string): Promise<boolean>
  close(): Promise<void>
}

/** What a receipt is told apart by: its body alone, as a signature can be written in several ways. */
export function receiptId(receipt: Receipt): string {
  return sha256(canonicalJson(receipt.body))
}
