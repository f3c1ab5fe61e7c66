import { closeSync, existsSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import semver from 'semver'
import { load as loadSqliteVec } from 'sqlite-vec'
import { STORE_APPLICATION_ID } from '../../../shared/contracts/store-schema.ts'
import { errorText } from '../../../shared/errors.ts'
import { MemoryDatabaseError } from '../database-error.ts'
import { termsOf } from '../retrieval/terms.ts'
import { migrations } from './migrations.ts'
import { inTransaction } from './transaction.ts'

/** Before this, a reset of the write-ahead log could corrupt the database. */
const OLDEST_SQLITE = '3.51.3'
const BUSY_MS = 5000
/** Records are read all over the file: mapped, in about half the time of copying pages. */
const MAPPED_BYTES = 2 ** 31 - 2 ** 16

/**
 * Opens the database, or makes it, and brings its schema up to date. Throws MemoryDatabaseError
 * when the file is not ours, is of a newer version, or holds vectors of another dimension.
 */
export function openDatabase(file: string, dimensions: number): DatabaseSync {
  requireSqlite(process.versions.sqlite ?? '0.0.0')
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    refuseForeignFile(file)
    return open(file, dimensions)
  } catch (error) {
    if (error instanceof MemoryDatabaseError) throw error
    throw new MemoryDatabaseError(`${file} cannot be opened: ${errorText(error)}`, { cause: error })
  }
}

function open(file: string, dimensions: number): DatabaseSync {
  const db = new DatabaseSync(file, { allowExtension: true, timeout: BUSY_MS })
  try {
    db.function('index_terms', { deterministic: true }, indexedText)
    db.exec('PRAGMA synchronous = FULL')
    db.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
    migrate(db, file, dimensions)
    db.enableLoadExtension(false)
    db.exec('PRAGMA journal_mode = WAL')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Another connection to a database that is open, for reading alone: what reads for long must not
 * hold up the writes of the first one. One that is not kept is not mapped: to unmap takes as long.
 */
export function openReader(file: string, { isKept }: { isKept: boolean }): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS })
  if (isKept) db.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
  return db
}

/** The text that the word index is given; empty for what is no text. */
function indexedText(text: unknown): string {
  return typeof text === 'string' ? termsOf(text).join(' ') : ''
}

export function requireSqlite(version: string): void {
  if (semver.gte(version, OLDEST_SQLITE)) return
  throw new MemoryDatabaseError(
    `this Node has SQLite ${version}, and the memory needs ${OLDEST_SQLITE} or newer: use Node 24.15`,
  )
}

/**
 * Looks at the file's header without SQLite, which would take over a foreign log on opening. The
 * application id stands in the main file from the first moment, because the tables are made before
 * the write-ahead log is switched on.
 */
function refuseForeignFile(file: string): void {
  if (!existsSync(file)) return
  const header = Buffer.alloc(72)
  const descriptor = openSync(file, 'r')
  try {
    if (readSync(descriptor, header) === 0) return
  } finally {
    closeSync(descriptor)
  }
  const isSqlite = header.toString('latin1', 0, 16) === 'SQLite format 3\0'
  if (isSqlite && header.readUInt32BE(68) === STORE_APPLICATION_ID) return
  throw new MemoryDatabaseError(
    `${file} is ${isSqlite ? 'a SQLite database of another program' : 'not a SQLite database'}: ` +
      'move it away or use another ASTRA_HOME',
  )
}

function migrate(db: DatabaseSync, file: string, dimensions: number): void {
  if (usableVersion(db, file, dimensions) === migrations.length) return
  // Older schemas kept vectors in its tables.
  loadSqliteVec(db)
  inTransaction(db, () => {
    // Read again: another process may have migrated while this one waited for the lock.
    const version = usableVersion(db, file, dimensions)
    for (const step of migrations.slice(version)) db.exec(step(dimensions))
    db.exec(`PRAGMA application_id = ${STORE_APPLICATION_ID}`)
    db.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

/** The schema version, 0 for a new file. Refuses what this program must not touch. */
function usableVersion(db: DatabaseSync, file: string, dimensions: number): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
  if (version > migrations.length) {
    throw new MemoryDatabaseError(
      `${file} has schema version ${version} and this program knows up to ` +
        `${migrations.length}: update the program`,
    )
  }
  if (version === 0) return 0
  const row = db.prepare("SELECT value FROM settings WHERE name = 'dimensions'").get()
  if (Number(row?.value) === dimensions) return version
  throw new MemoryDatabaseError(
    `${file} holds vectors of ${row?.value} dimensions and the embedding model makes ` +
      `${dimensions}: use the model it was filled with, or another ASTRA_HOME`,
  )
}
