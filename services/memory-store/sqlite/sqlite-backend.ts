import type { DatabaseSync } from 'node:sqlite'
import type { MemoryBackend } from '../backend.ts'
import { requireUnitVector } from '../unit-vector.ts'
import { createFinder } from './find-candidates.ts'
import { listRecords } from './list-records.ts'
import { openDatabase, openReader } from './open-database.ts'
import { readRecord, scanRecords } from './read-records.ts'
import { followChanges } from './scan/follow-changes.ts'
import { prepareStatements } from './statements.ts'
import { countRecords, deleteRecord, setRevoked, supersede, upsertRecord } from './write-records.ts'

/**
 * The embedded store: one SQLite file, and its vectors in memory besides, searched one by one. Calls
 * of SQLite block the process: the long ones are made in short pieces. Throws MemoryDatabaseError
 * when the file cannot be used.
 */
export function openSqliteBackend(options: { file: string; dimensions: number }): MemoryBackend {
  const { file, dimensions } = options
  const db = openDatabase(file, dimensions)
  const statements = prepareStatements(db)
  const reader = readerBeside(db, file)
  const followed = followChanges(db, () => openReader(file, { isKept: false }), dimensions)
  const finder = createFinder(reader, statements, followed)

  return {
    async upsert(record, vectors) {
      requireUnitVector('symptom', vectors.symptom, dimensions)
      requireUnitVector('fix', vectors.fix, dimensions)
      return upsertRecord(db, statements, record, vectors)
    },
    async candidates(query) {
      for (const vector of query.vectors) requireUnitVector('query', vector, dimensions)
      return finder.candidates(query)
    },
    async countLive(filter) {
      return finder.countLive(filter)
    },
    async countOfRepository(repositoryId) {
      return Number(statements.countOfRepository.get(repositoryId)?.n)
    },
    async count(memoryIds, counter, key, by = 1) {
      countRecords(db, statements, { memoryIds, counter, key, by })
    },
    async setRevoked(which, at) {
      return setRevoked(db, statements, which, at)
    },
    async supersede(memoryIds, by) {
      return supersede(db, statements, memoryIds, by)
    },
    async supersededBy(memoryId) {
      return statements.supersededBy.all(memoryId).map(({ memory_id }) => String(memory_id))
    },
    async get(memoryId) {
      return readRecord(statements.getByMemoryId.get(memoryId))
    },
    async list(page) {
      return listRecords(db, page)
    },
    async scan(after, limit, { vectors } = { vectors: false }) {
      return scanRecords(statements, after, limit, vectors)
    },
    async delete(memoryId) {
      return deleteRecord(db, statements, memoryId)
    },
    async close() {
      // The writer last: it writes the log back and leaves none.
      if (reader.isOpen) reader.close()
      if (db.isOpen) db.close()
    },
  }
}

function readerBeside(db: DatabaseSync, file: string): DatabaseSync {
  try {
    return openReader(file, { isKept: true })
  } catch (error) {
    db.close()
    throw error
  }
}
