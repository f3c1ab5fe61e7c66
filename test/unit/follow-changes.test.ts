import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openDatabase, openReader } from '../../services/memory-store/sqlite/open-database.ts'
import { followChanges } from '../../services/memory-store/sqlite/scan/follow-changes.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { sampleRecord, seededVector } from '../support/memory.ts'

const DIMENSIONS = 8
const anything = { errorKey: null, repository: null, group: null, notBeforeMs: null }
const vectors = { symptom: seededVector(1, DIMENSIONS), fix: seededVector(2, DIMENSIONS) }

let folder: string
let file: string
let db: DatabaseSync

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-follow-'))
  file = join(folder, 'memory.db')
  db = openDatabase(file, DIMENSIONS)
})

afterEach(async () => {
  db.close()
  await rm(folder, { recursive: true, force: true })
})

const follow = () => followChanges(db, () => openReader(file, { isKept: false }), DIMENSIONS)
const numbers = (count: number) => `
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`

async function store(session: string): Promise<void> {
  const other = openSqliteBackend({ file, dimensions: DIMENSIONS })
  await other.upsert(sampleRecord({ session_id: session }), vectors)
  await other.close()
}

it('keeps the last 10,000 changes, and who is further behind reads all again', async () => {
  const early = follow()
  expect((await early.current()).size).toBe(0)
  db.exec(`${numbers(32_000)} INSERT INTO vector_changes (id) SELECT n FROM numbers`)
  await store('run-1')
  const late = follow()
  expect((await late.current()).size).toBe(1)
  const kept = db.prepare('SELECT count(*) AS n, max(seq) AS last FROM vector_changes').get()
  expect(kept).toEqual({ n: 10_000, last: 32_001 })
  expect((await early.current()).count(anything)).toBe(1)
})

it('holds up no write while it reads all, and then knows what was written meanwhile', async () => {
  db.exec(`
    ${numbers(30_000)}
    INSERT INTO live_vectors
      SELECT n, 'error', 1, '', '', n, zeroblob(${4 * DIMENSIONS}), zeroblob(${4 * DIMENSIONS})
      FROM numbers`)
  const followed = follow()
  let isRead = false
  const current = followed.current().finally(() => {
    isRead = true
  })
  for (let turn = 0; turn < 3; turn += 1) await nextTurn()
  expect(isRead).toBe(false)
  db.exec(
    'UPDATE live_vectors SET live = 0 WHERE id = 1; INSERT INTO vector_changes (id) VALUES (1)',
  )
  const other = openDatabase(file, DIMENSIONS)
  other.exec('DELETE FROM live_vectors WHERE id = 2; INSERT INTO vector_changes (id) VALUES (2)')
  other.close()
  db.exec(
    'UPDATE live_vectors SET live = 0 WHERE id = 3; INSERT INTO vector_changes (id) VALUES (3)',
  )
  const scan = await current
  expect(scan.size).toBe(29_999)
  expect(scan.count(anything)).toBe(29_997)
})
