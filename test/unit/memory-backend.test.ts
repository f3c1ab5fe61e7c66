import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { load as loadSqliteVec } from 'sqlite-vec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ListPage, MemoryBackend } from '../../services/memory-store/backend.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { sampleReceipt, sampleRecord, seededVector } from '../support/memory.ts'

const dimensions = 8
const axis = (index: number) => Float32Array.from({ length: 8 }, (_, i) => (i === index ? 1 : 0))
const vectors = { symptom: axis(0), fix: axis(1) }
const all: ListPage = { limit: 10, offset: 0, session_id: null }
const any = { errorType: null, limit: 10 }

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

describe('upsert', () => {
  it('keeps a whole record, with text of any kind', async () => {
    const key = loadSigningKey(home)
    const odd = 'naïve — 修正\0\u001b[31m "quoted" \\ \n\t'
    const record = sampleRecord({ symptom_raw: odd, symptom: odd, receipt: sampleReceipt(key) })
    await backend.upsert(record, vectors)
    expect(await backend.get(record.memory_id)).toEqual(record)
  })

  it('updates a record that is there and keeps its counters, revocation and successor', async () => {
    const first = sampleRecord({
      shown: 3,
      revoked_at: '2026-11-02T00:00:00Z',
      superseded_by: sampleRecord({ session_id: 'run-2' }).memory_id,
    })
    await backend.upsert(first, vectors)
    await backend.upsert(sampleRecord({ model: 'another', symptom: 'seen again' }), vectors)
    expect(await backend.list(all)).toEqual({
      records: [{ ...first, model: 'another', symptom: 'seen again' }],
      total: 1,
    })
    expect(await backend.search(axis(0), any)).toEqual([])
  })

  it('moves the vectors of a record that is there', async () => {
    await backend.upsert(sampleRecord(), vectors)
    await backend.upsert(sampleRecord(), { symptom: axis(2), fix: axis(3) })
    const [found, ...others] = await backend.search(axis(2), any)
    expect(found?.cosine).toBeCloseTo(1)
    expect(others).toEqual([])
    expect((await backend.search(axis(0), any))[0]?.cosine).toBeCloseTo(0)
  })

  it('refuses a second record from one receipt, also after the first was deleted', async () => {
    const receipt = sampleReceipt(loadSigningKey(home))
    const first = sampleRecord({ receipt })
    const second = sampleRecord({ receipt, fix_description: 'something else' })
    const refused = { status: 'receipt_used', memory_id: first.memory_id }
    expect(await backend.upsert(first, vectors)).toEqual({ status: 'stored' })
    expect(await backend.upsert(first, vectors)).toEqual({ status: 'stored' })
    expect(await backend.upsert(second, vectors)).toEqual(refused)
    await backend.delete(first.memory_id)
    expect(await backend.upsert(second, vectors)).toEqual(refused)
    expect(await backend.list(all)).toEqual({ records: [], total: 0 })
  })

  it.each([
    ['of another length', Float32Array.of(1, 0, 0), 'must have 8 values and has 3'],
    ['of zeros', new Float32Array(8), 'must have length 1 and has 0'],
    ['with a NaN', axis(0).fill(Number.NaN, 3, 4), 'must have length 1 and has NaN'],
    ['that is not normalised', axis(0).fill(2), 'must have length 1'],
  ])('refuses a vector %s and stores nothing', async (_, bad, message) => {
    const stored = { symptom: axis(0), fix: bad }
    await expect(backend.upsert(sampleRecord(), stored)).rejects.toThrow(
      `the fix vector ${message}`,
    )
    await expect(backend.search(bad, any)).rejects.toThrow(`the query vector ${message}`)
    expect(await backend.list(all)).toEqual({ records: [], total: 0 })
    expect(await backend.search(axis(0), any)).toEqual([])
  })
})

describe('search', () => {
  it('ranks as a comparison with every vector does, with and without an error type', async () => {
    const stored = Array.from({ length: 300 }, (_, i) => ({
      record: sampleRecord({
        session_id: `run-${i}`,
        error_type: i % 3 === 0 ? 'KeyError: a name that is longer than twelve' : 'TypeError',
      }),
      vectors: {
        symptom: seededVector(2 * i, dimensions),
        fix: seededVector(2 * i + 1, dimensions),
      },
    }))
    for (const each of stored) await backend.upsert(each.record, each.vectors)

    const dot = (a: Float32Array, b: Float32Array) =>
      a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0)
    for (const errorType of [null, ' keyerror: other words']) {
      for (let seed = 1000; seed < 1010; seed += 1) {
        const query = seededVector(seed, dimensions)
        const expected = stored
          .filter(({ record }) => errorType === null || record.error_type.startsWith('KeyError'))
          .map((each) => ({
            id: each.record.memory_id,
            cosine: Math.max(dot(query, each.vectors.symptom), dot(query, each.vectors.fix)),
          }))
          .sort((a, b) => b.cosine - a.cosine)
          .slice(0, 10)
        const found = await backend.search(query, { errorType, limit: 10 })
        expect(found.map(({ record }) => record.memory_id)).toEqual(expected.map(({ id }) => id))
        for (const [i, { cosine }] of found.entries()) {
          expect(cosine).toBeCloseTo(expected[i]?.cosine ?? Number.NaN, 5)
        }
      }
    }
    expect(await backend.countLive(null)).toBe(300)
    expect(await backend.countLive('KEYERROR')).toBe(100)
  })

  it.each([
    ['revoked', { revoked_at: '2026-11-02T00:00:00Z' }],
    ['superseded', { superseded_by: sampleRecord({ session_id: 'run-2' }).memory_id }],
  ])('never finds a %s record, which get and list still show', async (_, changes) => {
    const record = sampleRecord(changes)
    await backend.upsert(record, vectors)
    expect(await backend.search(axis(0), any)).toEqual([])
    expect(await backend.search(axis(0), { ...any, errorType: 'AssertionError' })).toEqual([])
    expect(await backend.countLive(null)).toBe(0)
    expect(await backend.get(record.memory_id)).toEqual(record)
    expect((await backend.list(all)).total).toBe(1)
  })

  it('counts what was shown and passes over ids that are gone', async () => {
    const record = sampleRecord()
    await backend.upsert(record, vectors)
    await backend.countShown([record.memory_id, 'no such id'])
    await backend.countShown([record.memory_id])
    expect(await backend.get(record.memory_id)).toEqual({ ...record, shown: 2 })
  })
})

describe('list and delete', () => {
  it('lists by the moment of confirmation across time zones, in pages, and by session', async () => {
    const times = ['2026-11-01T10:00:00Z', '2026-11-01T10:30:00+02:00', '2026-11-01T09:00:00-05:00']
    for (const [i, timestamp] of times.entries()) {
      await backend.upsert(sampleRecord({ session_id: `run-${i}`, timestamp }), vectors)
    }
    const sessions = async (page: ListPage) =>
      (await backend.list(page)).records.map(({ session_id }) => session_id)
    expect(await sessions(all)).toEqual(['run-2', 'run-0', 'run-1'])
    expect(await sessions({ ...all, limit: 1, offset: 1 })).toEqual(['run-0'])
    const one = await backend.list({ limit: 10, offset: 0, session_id: 'run-1' })
    expect([one.records.length, one.total]).toEqual([1, 1])
  })

  it('scans every record once, in pages, whatever is stored and deleted meanwhile', async () => {
    const records = Array.from({ length: 5 }, (_, i) => sampleRecord({ session_id: `run-${i}` }))
    for (const record of records) await backend.upsert(record, vectors)
    const first = await backend.scan(null, 2)
    expect(first.entries.map(({ record }) => record)).toEqual(records.slice(0, 2))
    const [gone, updated] = records.slice(1, 3)
    await backend.delete(gone?.memory_id ?? '')
    await backend.upsert({ ...sampleRecord(updated), model: 'another' }, vectors)
    const second = await backend.scan(first.next, 2)
    expect(second.entries.map(({ session_id }) => session_id)).toEqual(['run-2', 'run-3'])
    const last = await backend.scan(second.next, 2)
    expect(last).toMatchObject({ entries: [{ session_id: 'run-4' }], next: null })
    expect(await backend.scan(null, 4)).toMatchObject({ next: expect.any(String) })
  })

  it('deletes a record from every index, once', async () => {
    const record = sampleRecord()
    await backend.upsert(record, vectors)
    expect(await backend.delete(record.memory_id)).toBe(true)
    expect(await backend.delete(record.memory_id)).toBe(false)
    expect(await backend.get(record.memory_id)).toBeNull()
    expect(await backend.search(axis(0), any)).toEqual([])
    await backend.close()
    expect(rowCounts()).toEqual({ memories: 0, counters: 0, memory_vectors: 0, matches: 0 })
  })
})

it('keeps the words of live records alone in the text index', async () => {
  const record = sampleRecord({ symptom: 'the old words' })
  await backend.upsert(record, vectors)
  await backend.upsert({ ...record, symptom: 'the spaces of the list' }, vectors)
  await backend.close()
  expect(rowCounts('old')).toMatchObject({ matches: 0 })
  expect(rowCounts('spaces')).toEqual({ memories: 1, counters: 1, memory_vectors: 1, matches: 1 })
})

it('keeps the memory in a folder that nobody else may read', async () => {
  expect((await stat(dirname(file))).mode & 0o777).toBe(0o700)
})

/** What the closed database holds, and how many texts have `word`. */
function rowCounts(word = 'list') {
  const db = new DatabaseSync(file, { allowExtension: true, readOnly: true })
  loadSqliteVec(db)
  const count = (from: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${from}`).get()?.n)
  const counts = {
    memories: count('memories'),
    counters: count('counters'),
    memory_vectors: count('memory_vectors'),
    matches: count(`memory_text('${word}')`),
  }
  db.close()
  return counts
}
