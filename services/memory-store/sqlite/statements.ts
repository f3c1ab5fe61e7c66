import type { DatabaseSync } from 'node:sqlite'

export type Statements = ReturnType<typeof prepareStatements>

const LIVE = 'superseded_by IS NULL AND revoked_at IS NULL'
const SELECT_RECORD = `
  SELECT record, superseded_by, revoked_at, shown FROM memories JOIN counters USING (id)`

/** Every statement of the store, prepared once. */
export function prepareStatements(db: DatabaseSync) {
  return {
    claimReceipt: db.prepare(
      'INSERT INTO receipts (receipt_id, memory_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
    ),
    receiptOwner: db.prepare('SELECT memory_id FROM receipts WHERE receipt_id = ?'),

    findId: db.prepare('SELECT id FROM memories WHERE memory_id = ?'),
    insertRecord: db.prepare(`
      INSERT INTO memories
        (memory_id, session_id, error_key, confirmed_ms, record, superseded_by, revoked_at)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`),
    insertCounters: db.prepare('INSERT INTO counters (id, shown) VALUES (?, ?)'),
    insertVectors: db.prepare(
      'INSERT INTO memory_vectors (symptom, fix, error_key, live, id) VALUES (?, ?, ?, ?, ?)',
    ),
    updateRecord: db.prepare(
      'UPDATE memories SET error_key = ?, confirmed_ms = ?, record = ? WHERE id = ?',
    ),
    // In place: delete and insert would let the file grow with every repeated store.
    updateVectors: db.prepare(
      'UPDATE memory_vectors SET symptom = ?, fix = ?, error_key = ? WHERE id = ?',
    ),
    writeText: db.prepare(
      'INSERT OR REPLACE INTO memory_text (rowid, error_type, symptom, fix) VALUES (?, ?, ?, ?)',
    ),

    nearestSymptoms: nearest(db, 'symptom', ''),
    nearestFixes: nearest(db, 'fix', ''),
    nearestSymptomsOfType: nearest(db, 'symptom', 'AND error_key = ?'),
    nearestFixesOfType: nearest(db, 'fix', 'AND error_key = ?'),
    countLive: db.prepare(`SELECT count(*) AS n FROM memories WHERE ${LIVE}`),
    countLiveOfType: db.prepare(
      `SELECT count(*) AS n FROM memories WHERE ${LIVE} AND error_key = ?`,
    ),
    countShown: db.prepare(`
      UPDATE counters SET shown = shown + 1
      WHERE id = (SELECT id FROM memories WHERE memory_id = ?)`),

    getById: db.prepare(`${SELECT_RECORD} WHERE id = ?`),
    getByMemoryId: db.prepare(`${SELECT_RECORD} WHERE memory_id = ?`),
    list: db.prepare(`${SELECT_RECORD} ORDER BY confirmed_ms DESC, id DESC LIMIT ? OFFSET ?`),
    listOfSession: db.prepare(`
      ${SELECT_RECORD} WHERE session_id = ?
      ORDER BY confirmed_ms DESC, id DESC LIMIT ? OFFSET ?`),
    scan: db.prepare(`
      SELECT id, memory_id, session_id, record, superseded_by, revoked_at, shown
      FROM memories LEFT JOIN counters USING (id) WHERE id > ? ORDER BY id LIMIT ?`),
    count: db.prepare('SELECT count(*) AS n FROM memories'),
    countOfSession: db.prepare('SELECT count(*) AS n FROM memories WHERE session_id = ?'),

    deleteRecord: db.prepare('DELETE FROM memories WHERE id = ?'),
    deleteVectors: db.prepare('DELETE FROM memory_vectors WHERE id = ?'),
    deleteText: db.prepare('DELETE FROM memory_text WHERE rowid = ?'),
  }
}

function nearest(db: DatabaseSync, column: 'symptom' | 'fix', filter: string) {
  return db.prepare(`
    SELECT id, distance FROM memory_vectors
    WHERE ${column} MATCH ? AND k = ? AND live = 1 ${filter}`)
}
