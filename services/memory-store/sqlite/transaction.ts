import type { DatabaseSync } from 'node:sqlite'

/** All of `work` or nothing. Takes the write lock at once, so that a later step cannot find it taken. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
