import type { DatabaseSync } from 'node:sqlite'
import type { MemoryBackend } from '../backend.ts'
import { errorKey } from '../error-key.ts'
import { requireUnitVector } from '../unit-vector.ts'
import { openDatabase } from './open-database.ts'
import { listRecords, readRecord, scanRecords } from './read-records.ts'
import { searchNearest } from './search-nearest.ts'
import { prepareStatements } from './statements.ts'
import { inTransaction } from './transaction.ts'
import { deleteRecord, upsertRecord } from './write-records.ts'

/**
 * The embedded store: one SQLite file, searched exactly. Its calls block the process, which is why
 * the memory has a process of its own. Throws MemoryDatabaseError when the file cannot be used.
 */
export function openSqliteBackend(options: { file: string; dimensions: number }): MemoryBackend {
  const { file, dimensions } = options
  const db: DatabaseSync = openDatabase(file, dimensions)
  const statements = prepareStatements(db)

  return {
    async upsert(record, vectors) {
      requireUnitVector('symptom', vectors.symptom, dimensions)
      requireUnitVector('fix', vectors.fix, dimensions)
      return upsertRecord(db, statements, record, vectors)
    },
    async search(vector, { errorType, limit }) {
      requireUnitVector('query', vector, dimensions)
      return searchNearest(statements, vector, errorType, limit)
    },
    async countLive(errorType) {
      const row =
        errorType === null
          ? statements.countLive.get()
          : statements.countLiveOfType.get(errorKey(errorType))
      return Number(row?.n)
    },
    async countShown(memoryIds) {
      inTransaction(db, () => {
        for (const memoryId of memoryIds) statements.countShown.run(memoryId)
      })
    },
    async get(memoryId) {
      return readRecord(statements.getByMemoryId.get(memoryId))
    },
    async list(page) {
      return listRecords(statements, page)
    },
    async scan(after, limit) {
      return scanRecords(statements, after, limit)
    },
    async delete(memoryId) {
      return deleteRecord(db, statements, memoryId)
    },
    async close() {
      if (db.isOpen) db.close()
    },
  }
}
