import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSqliteBackend } from '../../services/memory-store/sqlite/reopening-backend.ts'
import { storeFault } from '../../services/memory-store/sqlite/store-fault.ts'
import { isStoreAway } from '../../services/memory-store/store-away.ts'
import { sampleRecord, seededVector } from '../support/memory.ts'

let folder: string
let file: string
let backend: ReturnType<typeof createSqliteBackend>

const vectors = { symptom: seededVector(1, 8), fix: seededVector(2, 8) }
const record = sampleRecord()

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-fault-'))
  file = join(folder, 'memory', 'memory.db')
  backend = createSqliteBackend({ file, dimensions: 8 })
})
afterEach(async () => {
  await backend.close()
  await rm(folder, { recursive: true, force: true })
})

/** The error of SQLite for work that cannot be done. */
function sqliteError(sql: (db: DatabaseSync) => void): unknown {
  const db = new DatabaseSync(':memory:')
  try {
    sql(db)
  } catch (error) {
    return error
  } finally {
    db.close()
  }
  throw new Error('it could be done')
}

describe('a fault of the file', () => {
  it.each([
    [
      'no room',
      (db: DatabaseSync) => {
        db.exec('CREATE TABLE t (x); PRAGMA max_page_count = 3')
        db.exec('INSERT INTO t VALUES (zeroblob(100000))')
      },
      'database or disk is full; make room on its disk',
      false,
    ],
    [
      'no right to write',
      (db: DatabaseSync) => db.exec('PRAGMA query_only = 1; CREATE TABLE t (x)'),
      'readonly database; make it, its folder and its disk writable',
      true,
    ],
    [
      'nothing that can be opened',
      () => void new DatabaseSync('/nowhere/memory.db'),
      'unable to open database file; look at its folder',
      true,
    ],
  ])('%s: the store is away', (_, sql, message, reopen) => {
    const fault = storeFault(sqliteError(sql), file)
    expect(fault?.error.message).toContain(`${file} cannot be used: `)
    expect(fault?.error.message).toContain(message)
    expect(fault?.reopen).toBe(reopen)
    expect(isStoreAway(fault?.error)).toBe(true)
  })

  it('a lock that another process holds: the store is away, and the connection is sound', async () => {
    await backend.upsert(record, vectors)
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const own = new DatabaseSync(file, { timeout: 0 })
    try {
      own.exec('BEGIN IMMEDIATE')
      expect.unreachable()
    } catch (error) {
      const fault = storeFault(error, file)
      expect(fault?.error.message).toContain('another process holds its lock')
      expect([isStoreAway(fault?.error), fault?.reopen]).toEqual([true, false])
    } finally {
      own.close()
      other.close()
    }
  })

  it('text in place of a database: it is damaged', () => {
    const garbage = join(folder, 'garbage.db')
    writeFileSync(garbage, 'no database '.repeat(100))
    const fault = storeFault(
      sqliteError(() => new DatabaseSync(garbage).exec('SELECT * FROM sqlite_schema')),
      file,
    )
    expect(fault?.error.message).toMatch(/is damaged: .*; put a backup in its place/)
  })

  it('is not what is wrong with a statement or a record', () => {
    expect(
      storeFault(
        sqliteError((db) => db.exec('SELECT x')),
        file,
      ),
    ).toBeNull()
    expect(storeFault(new TypeError('x'), file)).toBeNull()
  })
})

describe('the embedded store', () => {
  it('is used as soon as its folder can be', async () => {
    writeFileSync(join(folder, 'memory'), 'no folder')
    await expect(backend.get(record.memory_id)).rejects.toThrow('memory.db cannot be opened')
    rmSync(join(folder, 'memory'))
    expect(await backend.upsert(record, vectors)).toEqual({ status: 'stored' })
  })

  it('says of a damaged file what to do, and is used again when that was done', async () => {
    await backend.upsert(record, vectors)
    await backend.close()
    backend = createSqliteBackend({ file, dimensions: 8 })
    await backend.get(record.memory_id)
    const backup = readFileSync(file)
    // All but the first page, which says what kind of file it is.
    writeFileSync(file, Buffer.concat([backup.subarray(0, 4096), Buffer.alloc(100_000, 7)]))
    const page = { limit: 9, offset: 0, session_id: null }
    const broken = await backend.list(page).catch((error) => error)
    expect(broken.message).toMatch(/memory\.db is damaged: .*; put a backup in its place/)
    expect(isStoreAway(broken)).toBe(true)
    writeFileSync(file, backup)
    expect(await backend.list(page)).toEqual({ records: [record], total: 1 })
  })
})
