import type { MemoryRecord } from '../../../shared/contracts/record.ts'

export type Moment = { at: string | null; what: string; memory?: string; run?: string }

/** What is known of a record's life, oldest first; what has no time of its own stands last. */
export function historyOf(record: MemoryRecord, standsFor: readonly string[]): Moment[] {
  const { receipt, merged, superseded_by, revoked_at, session_id } = record
  const dated: Moment[] = [
    { at: record.timestamp, what: 'confirmed by its run', run: session_id },
    ...(receipt ? [{ at: receipt.body.finished_at, what: 'proved: the receipt was signed' }] : []),
    ...(revoked_at ? [{ at: revoked_at, what: 'revoked: no search answers with it' }] : []),
  ]
  const named = standsFor.filter((id) => !merged.includes(id))
  return [
    ...dated.sort((a, b) => Date.parse(a.at ?? '') - Date.parse(b.at ?? '')),
    ...merged.map((memory) => ({
      at: null,
      what: 'merged: a near-duplicate, whose counters it took over,',
      memory,
    })),
    ...named.map((memory) => ({ at: null, what: 'supersedes', memory })),
    ...(superseded_by ? [{ at: null, what: 'superseded by', memory: superseded_by }] : []),
  ]
}
