/**
 * The schema, step by step. Step n takes a database from `user_version` n to n + 1. A step that has
 * been released is never changed: add another one.
 */
export const migrations: readonly ((dimensions: number) => string)[] = [
  firstTables,
  dropFirstReceipts,
  splitWordsAndScopes,
  rememberWhatWasCounted,
  logVectorChanges,
  keepVectorsInRows,
  holdWhatIsListed,
]

/**
 * `memories.record` is the record as JSON without what changes after it was stored. Counters have a
 * table of their own, so that counting rewrites neither the record nor its vectors. `receipts`
 * outlives its records: a receipt never stores a second one. `memory_text` is written for lexical
 * search, which can be added without reading all records again.
 */
function firstTables(dimensions: number): string {
  return `
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO settings (name, value) VALUES ('dimensions', '${dimensions}');

    CREATE TABLE memories (
      id INTEGER PRIMARY KEY,
      memory_id TEXT NOT NULL UNIQUE,
      session_id TEXT NOT NULL,
      error_key TEXT NOT NULL,
      confirmed_ms INTEGER NOT NULL,
      superseded_by TEXT,
      revoked_at TEXT,
      record TEXT NOT NULL
    ) STRICT;
    CREATE INDEX memories_by_time ON memories (confirmed_ms DESC, id DESC);
    CREATE INDEX memories_by_session ON memories (session_id, confirmed_ms DESC, id DESC);
    CREATE INDEX memories_live ON memories (error_key)
      WHERE superseded_by IS NULL AND revoked_at IS NULL;

    CREATE TABLE counters (
      id INTEGER PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
      shown INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE receipts (receipt_id TEXT PRIMARY KEY, memory_id TEXT NOT NULL)
      STRICT, WITHOUT ROWID;

    CREATE VIRTUAL TABLE memory_vectors USING vec0(
      id INTEGER PRIMARY KEY,
      symptom FLOAT[${dimensions}],
      fix FLOAT[${dimensions}],
      error_key TEXT,
      live INTEGER
    );
    CREATE VIRTUAL TABLE memory_text USING fts5(
      error_type, symptom, fix, content='', contentless_delete=1
    );
  `
}

/** Receipts of version 1 said too little to be believed: their records become unproved. */
function dropFirstReceipts(): string {
  return `
    UPDATE memories SET record = json_set(record, '$.receipt', NULL)
      WHERE json_extract(record, '$.receipt.body.version') = 1;
  `
}

/**
 * Words are indexed by `index_terms` (retrieval/terms.ts), and what a search may be limited to
 * stands beside the vectors, because vec0 filters by its own columns alone. A row that cannot be
 * read keeps its place.
 */
function splitWordsAndScopes(dimensions: number): string {
  const field = (name: string) => `CASE WHEN json_valid(record) THEN record ->> '$.${name}' END`
  return `
    ALTER TABLE memories ADD COLUMN repository_id TEXT;
    ALTER TABLE memories ADD COLUMN group_name TEXT;
    UPDATE memories SET repository_id = ${field('repository_id')};
    CREATE INDEX memories_by_repository ON memories (repository_id);
    CREATE INDEX memories_by_group ON memories (group_name);

    ALTER TABLE counters ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE counters ADD COLUMN unconfirmed INTEGER NOT NULL DEFAULT 0;

    DROP TABLE memory_text;
    CREATE VIRTUAL TABLE memory_text USING fts5(
      error_type, symptom, fix, content='', contentless_delete=1, tokenize="ascii tokenchars '_.$'"
    );
    CREATE VIRTUAL TABLE memory_terms USING fts5vocab(memory_text, row);
    INSERT INTO memory_text (rowid, error_type, symptom, fix)
      SELECT id, index_terms(${field('error_type')}), index_terms(${field('symptom')}),
        index_terms(${field('fix_description')})
      FROM memories;

    CREATE VIRTUAL TABLE live_vectors USING vec0(
      id INTEGER PRIMARY KEY,
      symptom FLOAT[${dimensions}],
      fix FLOAT[${dimensions}],
      error_key TEXT,
      live INTEGER,
      repository TEXT,
      group_name TEXT,
      confirmed_ms INTEGER
    );
    INSERT INTO live_vectors
        (id, symptom, fix, error_key, live, repository, group_name, confirmed_ms)
      SELECT id, symptom, fix, memory_vectors.error_key, live,
        coalesce('=' || repository_id, ''), '', confirmed_ms
      FROM memory_vectors JOIN memories USING (id);
    DROP TABLE memory_vectors;
  `
}

/** A run's outcome counts once for each record, also when its job is repeated. */
function rememberWhatWasCounted(): string {
  return `
    CREATE TABLE counted (
      id INTEGER NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
      key TEXT NOT NULL,
      PRIMARY KEY (id, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX memories_superseded ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
  `
}

/**
 * Names every row whose vectors, or what they are filtered by, may have changed: processes that keep
 * the vectors in memory follow it. Numbers are never given twice.
 */
function logVectorChanges(): string {
  const log = (event: string, row: string) => `
    CREATE TRIGGER vectors_after_${event} AFTER ${event} ON memories BEGIN
      INSERT INTO vector_changes (id) VALUES (${row}.id);
    END;`
  return `
    CREATE TABLE vector_changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL) STRICT;
    ${log('insert', 'new')} ${log('update', 'new')} ${log('delete', 'old')}
  `
}

/**
 * Vectors are searched in memory, and the disk has to give one or all of them. vec0 keeps them in
 * chunks of 1,024, through half of which SQLite walks for each; a plain row of 384 dimensions is one page.
 */
function keepVectorsInRows(): string {
  return `
    CREATE TABLE vector_rows (
      id INTEGER PRIMARY KEY,
      error_key TEXT NOT NULL,
      live INTEGER NOT NULL,
      repository TEXT NOT NULL,
      group_name TEXT NOT NULL,
      confirmed_ms INTEGER NOT NULL,
      symptom BLOB NOT NULL,
      fix BLOB NOT NULL
    ) STRICT;
    INSERT INTO vector_rows
        (id, error_key, live, repository, group_name, confirmed_ms, symptom, fix)
      SELECT id, error_key, live, repository, group_name, confirmed_ms, symptom, fix
      FROM live_vectors;
    DROP TABLE live_vectors;
    ALTER TABLE vector_rows RENAME TO live_vectors;
  `
}

/** Lists are filtered and counted without a look at the records, which are large. */
function holdWhatIsListed(): string {
  return `
    DROP INDEX memories_by_time;
    CREATE INDEX memories_listed ON memories (
      confirmed_ms DESC, id DESC, superseded_by, revoked_at, error_key, repository_id, session_id
    );
  `
}
