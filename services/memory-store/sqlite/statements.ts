import type { DatabaseSync } from 'node:sqlite'
import type { Counter } from '../backend.ts'

export type Statements = ReturnType<typeof prepareStatements>

const SELECT_RECORD = `
  SELECT record, superseded_by, revoked_at, shown, confirmed, unconfirmed FROM memories JOIN counters USING (id)`

/** Every statement of the store, prepared once. */
export function prepareStatements(db: DatabaseSync) {
  return {
    claimReceipt: db.prepare(
      'INSERT INTO receipts (receipt_id, memory_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
    ),
    receiptOwner: db.prepare('SELECT memory_id FROM receipts WHERE receipt_id = ?'),

    findId: db.prepare('SELECT id FROM memories WHERE memory_id = ?'),
    insertRecord: db.prepare(`
      INSERT INTO memories (memory_id, session_id, superseded_by, revoked_at,
        error_key, confirmed_ms, repository_id, group_name, record)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`),
    insertCounters: db.prepare(
      'INSERT INTO counters (id, shown, confirmed, unconfirmed) VALUES (?, ?, ?, ?)',
    ),
    insertVectors: db.prepare(`
      INSERT INTO live_vectors
        (symptom, fix, error_key, confirmed_ms, repository, group_name, live, id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
    updateRecord: db.prepare(`
      UPDATE memories
      SET error_key = ?, confirmed_ms = ?, repository_id = ?, group_name = ?, record = ?
      WHERE id = ?`),
    // In place: delete and insert would let the file grow with every repeated store.
    updateVectors: db.prepare(`
      UPDATE live_vectors
      SET symptom = ?, fix = ?, error_key = ?, confirmed_ms = ?, repository = ?, group_name = ?
      WHERE id = ?`),
    writeText: db.prepare(`
      INSERT OR REPLACE INTO memory_text (rowid, error_type, symptom, fix)
      VALUES (?, index_terms(?), index_terms(?), index_terms(?))`),

    vectorsOf: db.prepare('SELECT symptom, fix FROM live_vectors WHERE id = ?'),
    count: {
      shown: addTo(db, 'shown'),
      confirmed: addTo(db, 'confirmed'),
      unconfirmed: addTo(db, 'unconfirmed'),
    },
    claimCount: db.prepare(`
      INSERT INTO counted (id, key) SELECT id, :key FROM memories WHERE memory_id = :memory_id
      ON CONFLICT DO NOTHING`),
    setRevoked: {
      memory_id: setRevoked(db, 'memory_id'),
      session_id: setRevoked(db, 'session_id'),
      repository_id: setRevoked(db, 'repository_id'),
    },
    supersede: db.prepare(`
      UPDATE memories SET superseded_by = :by
      WHERE memory_id = :memory_id AND superseded_by IS NOT :by RETURNING id`),
    supersededBy: db.prepare('SELECT memory_id FROM memories WHERE superseded_by = ? ORDER BY id'),
    refreshLive: db.prepare(`
      UPDATE live_vectors
      SET live = (SELECT superseded_by IS NULL AND revoked_at IS NULL FROM memories WHERE id = :id)
      WHERE id = :id`),

    getById: db.prepare(`${SELECT_RECORD} WHERE id = ?`),
    getByMemoryId: db.prepare(`${SELECT_RECORD} WHERE memory_id = ?`),
    scan: db.prepare(`
      SELECT id, memory_id, session_id, record, superseded_by, revoked_at,
        shown, confirmed, unconfirmed
      FROM memories LEFT JOIN counters USING (id) WHERE id > ? ORDER BY id LIMIT ?`),
    countOfRepository: db.prepare('SELECT count(*) AS n FROM memories WHERE repository_id = ?'),

    deleteRecord: db.prepare('DELETE FROM memories WHERE id = ?'),
    deleteVectors: db.prepare('DELETE FROM live_vectors WHERE id = ?'),
    deleteText: db.prepare('DELETE FROM memory_text WHERE rowid = ?'),
  }
}

function addTo(db: DatabaseSync, counter: Counter) {
  return db.prepare(`
    UPDATE counters SET ${counter} = ${counter} + :by
    WHERE id = (SELECT id FROM memories WHERE memory_id = :memory_id)`)
}

function setRevoked(db: DatabaseSync, column: 'memory_id' | 'session_id' | 'repository_id') {
  return db.prepare(`
    UPDATE memories SET revoked_at = :at
    WHERE ${column} = :value AND (revoked_at IS NULL) = (:at IS NOT NULL) RETURNING id`)
}
