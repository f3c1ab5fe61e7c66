import type { DatabaseSync } from 'node:sqlite'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { ListPage } from '../backend.ts'
import { errorKey } from '../error-key.ts'
import type { ListFilter } from '../list-filter.ts'
import { readRecord } from './read-records.ts'

const LISTED = 'memories INDEXED BY memories_listed'

type Condition = { sql: string; value?: string | number }

/**
 * Rows are chosen, counted and ordered by one index that holds all of that: a record is large, and of
 * 100,000 none is looked at but those of the page.
 */
export function listRecords(
  db: DatabaseSync,
  { limit, offset, ...filter }: ListPage,
): { records: MemoryRecord[]; total: number } {
  const conditions = conditionsOf(filter)
  const where = ['true', ...conditions.map(({ sql }) => sql)].join(' AND ')
  const values = conditions.flatMap(({ value }) => value ?? [])
  const page = `
    SELECT id FROM ${LISTED} WHERE ${where} ORDER BY confirmed_ms DESC, id DESC LIMIT ? OFFSET ?`
  const rows = db.prepare(`
    SELECT record, superseded_by, revoked_at, shown, confirmed, unconfirmed
    FROM memories JOIN counters USING (id) WHERE id IN (${page})
    ORDER BY confirmed_ms DESC, id DESC`)
  const count = db.prepare(`SELECT count(*) AS n FROM ${LISTED} WHERE ${where}`)
  return {
    records: rows.all(...values, limit, offset).flatMap((row) => readRecord(row) ?? []),
    total: Number(count.get(...values)?.n),
  }
}

function conditionsOf(filter: ListFilter): Condition[] {
  const { session_id = null, repository_id, error_type } = filter
  return [
    ...(session_id === null ? [] : [{ sql: 'session_id = ?', value: session_id }]),
    ...(repository_id === undefined ? [] : [{ sql: 'repository_id = ?', value: repository_id }]),
    ...(error_type === undefined ? [] : [{ sql: 'error_key = ?', value: errorKey(error_type) }]),
    ...stateConditions(filter),
  ]
}

/** For the first state that holds, as `fitsList` has it. */
function stateConditions({ state, notBefore = null }: ListFilter): Condition[] {
  const live = { sql: 'superseded_by IS NULL AND revoked_at IS NULL' }
  switch (state) {
    case undefined:
      return []
    case 'revoked':
      return [{ sql: 'revoked_at IS NOT NULL' }]
    case 'superseded':
      return [{ sql: 'superseded_by IS NOT NULL AND revoked_at IS NULL' }]
    case 'expired':
      if (notBefore === null) return [{ sql: 'false' }]
      return [live, { sql: 'confirmed_ms < ?', value: Date.parse(notBefore) }]
    case 'live':
      if (notBefore === null) return [live]
      return [live, { sql: 'confirmed_ms >= ?', value: Date.parse(notBefore) }]
  }
}
