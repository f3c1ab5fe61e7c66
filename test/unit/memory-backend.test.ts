import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { axis, describeBackend, dimensions } from '../support/backend-suite.ts'
import { sampleRecord } from '../support/memory.ts'

const vectors = { symptom: axis(0), fix: axis(1) }

let home: string
let file: string
let backend: MemoryBackend

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-memory-'))
  file = join(home, 'memory', 'memory.db')
  backend = openSqliteBackend({ file, dimensions })
})

afterEach(async () => {
  await backend.close()
  await rm(home, { recursive: true, force: true })
})

describe('the sqlite backend', () => {
  const others: MemoryBackend[] = []
  describeBackend(
    async () => ({
      backend,
      async another() {
        const other = openSqliteBackend({ file, dimensions })
        others.push(other)
        return other
      },
      async close() {
        for (const other of others.splice(0)) await other.close()
      },
    }),
    { countsOfTwo: true },
  )
})

it('leaves nothing of a deleted record in any table', async () => {
  const record = sampleRecord()
  await backend.upsert(record, vectors)
  await backend.delete(record.memory_id)
  await backend.close()
  expect(rowCounts()).toEqual({ memories: 0, counters: 0, live_vectors: 0, matches: 0 })
})

it('keeps the words of live records alone in the text index', async () => {
  const record = sampleRecord({ symptom: 'the old words' })
  await backend.upsert(record, vectors)
  await backend.upsert({ ...record, symptom: 'the spaces of the list' }, vectors)
  await backend.close()
  expect(rowCounts('old')).toMatchObject({ matches: 0 })
  expect(rowCounts('spaces')).toEqual({ memories: 1, counters: 1, live_vectors: 1, matches: 1 })
})

it('keeps the memory in a folder that nobody else may read', async () => {
  expect((await stat(dirname(file))).mode & 0o777).toBe(0o700)
})

/** What the closed database holds, and how many texts have `word`. */
function rowCounts(word = 'list') {
  const db = new DatabaseSync(file, { readOnly: true })
  const count = (from: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${from}`).get()?.n)
  const counts = {
    memories: count('memories'),
    counters: count('counters'),
    live_vectors: count('live_vectors'),
    matches: count(`memory_text('${word}')`),
  }
  db.close()
  return counts
}
