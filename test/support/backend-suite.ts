import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  Candidate,
  CandidateQuery,
  ListPage,
  LiveFilter,
  MemoryBackend,
  RecordVectors,
} from '../../services/memory-store/backend.ts'
import type { ListFilter } from '../../services/memory-store/list-filter.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { sampleReceipt, sampleRecord, seededVector } from './memory.ts'

export const dimensions = 8
export const axis = (index: number) =>
  Float32Array.from({ length: dimensions }, (_, i) => (i === index ? 1 : 0))

/** An empty store of a test's own. */
export type TestStore = {
  backend: MemoryBackend
  /** The same store, as a second process has it. */
  another(): Promise<MemoryBackend>
  /** Removes it. */
  close(): Promise<void>
}

export type Traits = {
  /** Counts of two processes at the same moment are both kept. */
  countsOfTwo: boolean
}

/** What every backend has to do, with the same answers to the same records. */
export function describeBackend(openStore: () => Promise<TestStore>, traits: Traits): void {
  const vectors = { symptom: axis(0), fix: axis(1) }
  const all: ListPage = { limit: 10, offset: 0, session_id: null }
  const live: LiveFilter = { errorType: null, scope: null, notBefore: null }
  const near = (vector: Float32Array, changes: Partial<CandidateQuery> = {}) =>
    backend.candidates({ ...live, vectors: [vector], text: '', limit: 10, ...changes })

  let home: string
  let open: TestStore
  let backend: MemoryBackend

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'astra-keys-'))
    open = await openStore()
    backend = open.backend
  })

  afterEach(async () => {
    await open.close()
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
      expect(await near(axis(0))).toEqual([])
    })

    it('moves the vectors of a record that is there', async () => {
      await backend.upsert(sampleRecord(), vectors)
      await backend.upsert(sampleRecord(), { symptom: axis(2), fix: axis(3) })
      const [found, ...others] = await near(axis(2))
      expect(found?.cosine.symptom).toBeCloseTo(1)
      expect(others).toEqual([])
      expect((await near(axis(0)))[0]?.cosine.symptom).toBeCloseTo(0)
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

    it('keeps a receipt used that another one of the same record took the place of', async () => {
      const key = loadSigningKey(home)
      const [old, later] = [sampleReceipt(key), sampleReceipt(key, { command: 'node --test a' })]
      const record = sampleRecord({ receipt: old })
      const again = { ...record, receipt: later }
      for (const each of [record, again]) await backend.upsert(each, vectors)
      expect(await backend.get(record.memory_id)).toEqual(again)
      for (const receipt of [old, later]) {
        const other = sampleRecord({ receipt, fix_description: 'something else' })
        const refused = { status: 'receipt_used', memory_id: record.memory_id }
        expect(await backend.upsert(other, vectors)).toEqual(refused)
      }
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
      await expect(near(bad)).rejects.toThrow(`the query vector ${message}`)
      expect(await backend.list(all)).toEqual({ records: [], total: 0 })
      expect(await near(axis(0))).toEqual([])
    })
  })

  describe('candidates', () => {
    it('are the nearest by each vector, as a comparison with every one finds them, with and without an error type', async () => {
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

      for (const errorType of [null, ' keyerror: other words']) {
        const live = stored.filter(
          ({ record }) => errorType === null || record.error_type.startsWith('KeyError'),
        )
        for (let seed = 1000; seed < 1010; seed += 1) {
          const queries = [seededVector(seed, dimensions), seededVector(seed + 100, dimensions)]
          const found = await near(axis(0), { vectors: queries, errorType })
          expectNearest(found, live, queries)
        }
      }
      expect(await backend.countLive(live)).toBe(300)
      expect(await backend.countLive({ ...live, errorType: 'KEYERROR' })).toBe(100)
    })

    it.each([
      ['revoked', { revoked_at: '2026-11-02T00:00:00Z' }],
      ['superseded', { superseded_by: sampleRecord({ session_id: 'run-2' }).memory_id }],
    ])('never finds a %s record, which get and list still show', async (_, changes) => {
      const record = sampleRecord(changes)
      await backend.upsert(record, vectors)
      expect(await near(axis(0))).toEqual([])
      expect(await near(axis(0), { errorType: 'AssertionError' })).toEqual([])
      expect(await backend.countLive(live)).toBe(0)
      expect(await backend.get(record.memory_id)).toEqual(record)
      expect((await backend.list(all)).total).toBe(1)
    })

    it('counts on each counter by itself and passes over ids that are gone', async () => {
      const record = sampleRecord()
      await backend.upsert(record, vectors)
      await backend.count([record.memory_id, 'no such id'], 'shown')
      await backend.count([record.memory_id], 'shown')
      await backend.count([record.memory_id], 'confirmed')
      await backend.count([record.memory_id], 'unconfirmed')
      const counted = { ...record, shown: 2, confirmed: 1, unconfirmed: 1 }
      expect(await backend.get(record.memory_id)).toEqual(counted)
    })

    it('adds as much to a counter as it is told, and with a key once', async () => {
      const record = sampleRecord({ shown: 1 })
      await backend.upsert(record, vectors)
      await backend.count([record.memory_id], 'shown', undefined, 3)
      for (const by of [5, 7]) await backend.count([record.memory_id], 'confirmed', 'key', by)
      expect(await backend.get(record.memory_id)).toEqual({ ...record, shown: 4, confirmed: 5 })
    })

    it('counts once for each record and key, whatever is counted for that key later', async () => {
      const [one, two] = [sampleRecord(), sampleRecord({ session_id: 'run-2' })]
      for (const record of [one, two]) await backend.upsert(record, vectors)
      await backend.count([one.memory_id, 'no such id'], 'confirmed', 'run-9')
      await backend.count([one.memory_id, two.memory_id], 'confirmed', 'run-9')
      await backend.count([one.memory_id], 'unconfirmed', 'run-9')
      await backend.count([one.memory_id], 'unconfirmed', 'run-10')
      expect(await backend.get(one.memory_id)).toEqual({ ...one, confirmed: 1, unconfirmed: 1 })
      expect(await backend.get(two.memory_id)).toEqual({ ...two, confirmed: 1 })
    })

    it('counts a record once for a key, on the counter that came first, also when it is stored again', async () => {
      const [record, other] = [sampleRecord(), sampleRecord({ session_id: 'run-2' })]
      for (const each of [record, other]) await backend.upsert(each, vectors)
      const ids = [record.memory_id, other.memory_id]
      await backend.count([record.memory_id], 'confirmed', 'run-9')
      await backend.upsert(record, vectors)
      await backend.count(ids, 'unconfirmed', 'run-9')
      await backend.count(ids, 'unconfirmed', 'run-9')
      await backend.count(ids, 'unconfirmed', 'run-10')
      const counts = async (id: string) => {
        const { confirmed, unconfirmed } = (await backend.get(id)) ?? {}
        return { confirmed, unconfirmed }
      }
      expect(await counts(record.memory_id)).toEqual({ confirmed: 1, unconfirmed: 1 })
      expect(await counts(other.memory_id)).toEqual({ confirmed: 0, unconfirmed: 2 })
    })

    it('finds by a name in another spelling what no vector is near to', async () => {
      const named = sampleRecord({
        session_id: 'run-named',
        symptom: 'lost in users.fetchUserById()',
      })
      const away = axis(0).map((value) => -value)
      await backend.upsert(named, { symptom: axis(6), fix: away })
      for (let i = 0; i < 20; i += 1) {
        await backend.upsert(sampleRecord({ session_id: `run-${i}` }), vectors)
      }
      const found = await near(axis(0), { text: 'in fetch_user_by_id: lost', limit: 3 })
      const hit = found.find(({ record }) => record.memory_id === named.memory_id)
      expect(hit?.lexical).toBeGreaterThan(0)
      expect(hit?.cosine).toEqual({ symptom: 0, fix: -1 })
      // Equally near ones can be others for the symptom than for the fix.
      expect(found.filter(({ lexical }) => lexical === 0).length).toBeGreaterThanOrEqual(3)
      const odd = await near(axis(0), { text: '" OR * NEAR(', limit: 3 })
      expect(new Set(odd.map(({ lexical }) => lexical))).toEqual(new Set([0]))
    })

    it('looks at one repository, one group, or what is not expired, and nowhere else', async () => {
      const here = sampleRecord({ session_id: 'run-here' })
      const there = sampleRecord({ session_id: 'run-there', repository_id: 'r2', group: 'team' })
      const nowhere = sampleRecord({ session_id: 'run-nowhere', repository_id: null })
      const old = sampleRecord({ session_id: 'run-old', timestamp: '2020-01-01T01:00:00+02:00' })
      for (const record of [here, there, nowhere, old]) await backend.upsert(record, vectors)
      const sessions = async (changes: Partial<LiveFilter>) => {
        const found = await near(axis(0), { ...changes, text: 'list with spaces' })
        expect(await backend.countLive({ ...live, ...changes })).toBe(found.length)
        return found.map(({ record }) => record.session_id).sort()
      }
      expect(await sessions({ scope: { repository_id: 'repository-1' } })).toEqual([
        'run-here',
        'run-old',
      ])
      expect(await sessions({ scope: { group: 'team' } })).toEqual(['run-there'])
      expect(await sessions({ scope: { repository_id: '' } })).toEqual([])
      expect(await sessions({ scope: { group: '' } })).toEqual([])
      expect(await sessions({ notBefore: '2019-12-31T23:00:00Z' })).toHaveLength(4)
      expect(await sessions({ notBefore: '2019-12-31T23:00:01Z' })).not.toContain('run-old')
      const both = { scope: { repository_id: 'repository-1' }, notBefore: '2021-01-01T00:00:00Z' }
      expect(await sessions({ ...both, errorType: 'assertionerror' })).toEqual(['run-here'])
    })
  })

  describe('setRevoked and supersede', () => {
    const at = '2026-11-02T00:00:00Z'
    const one = sampleRecord({ session_id: 'run-1' })
    const two = sampleRecord({ session_id: 'run-1', fix_description: 'another' })
    const other = sampleRecord({ session_id: 'run-2', repository_id: 'r2' })
    const found = async () => (await near(axis(0))).map(({ record }) => record.memory_id).sort()
    const ids = (...records: MemoryRecord[]) => records.map(({ memory_id }) => memory_id).sort()

    beforeEach(async () => {
      for (const record of [one, two, other]) await backend.upsert(record, vectors)
    })

    it.each([
      ['one record', { memory_id: one.memory_id }, [two, other]],
      ['a session', { session_id: 'run-1' }, [other]],
      ['a repository', { repository_id: 'r2' }, [one, two]],
      ['nothing that is there', { session_id: 'run-9' }, [one, two, other]],
    ])('takes %s out of every search, and back', async (_, which, left) => {
      expect(await backend.setRevoked(which, at)).toBe(3 - left.length)
      expect(await backend.setRevoked(which, '2026-12-01T00:00:00Z')).toBe(0)
      expect(await found()).toEqual(ids(...left))
      expect(await backend.countLive(live)).toBe(left.length)
      expect((await backend.get(one.memory_id))?.revoked_at).toBe(left.includes(one) ? null : at)
      expect(await backend.countOfRepository('r2')).toBe(1)
      expect(await backend.setRevoked(which, null)).toBe(3 - left.length)
      expect(await found()).toEqual(ids(one, two, other))
    })

    it('leave the number of records that a repository has', async () => {
      await backend.setRevoked({ memory_id: one.memory_id }, at)
      await backend.supersede([two.memory_id], other.memory_id)
      expect(await backend.countOfRepository('repository-1')).toBe(2)
      expect(await backend.countOfRepository('no such repository')).toBe(0)
    })

    it('lets another record stand for some, until that is taken back', async () => {
      const { memory_id: by } = other
      expect(await backend.supersede([one.memory_id, two.memory_id, 'gone'], by)).toBe(2)
      expect(await backend.supersede([one.memory_id], by)).toBe(0)
      expect((await backend.supersededBy(by)).sort()).toEqual(ids(one, two))
      expect(await backend.supersededBy(one.memory_id)).toEqual([])
      expect(await found()).toEqual([by])
      expect((await backend.get(one.memory_id))?.superseded_by).toBe(by)
      expect((await backend.supersededBy(by)).sort()).toEqual(ids(one, two))
      expect(await backend.supersededBy(one.memory_id)).toEqual([])
      await backend.setRevoked({ session_id: 'run-1' }, at)
      expect(await backend.supersede([one.memory_id, two.memory_id], null)).toBe(2)
      expect(await found()).toEqual([by])
      await backend.setRevoked({ session_id: 'run-1' }, null)
      expect(await found()).toEqual(ids(one, two, other))
    })
  })

  it('keeps what happens to a record while it is stored again', async () => {
    const at = '2026-11-02T00:00:00Z'
    const records = Array.from({ length: 12 }, (_, i) => sampleRecord({ session_id: `run-${i}` }))
    for (const record of records) await backend.upsert(record, vectors)
    const by = sampleRecord({ session_id: 'run-later' }).memory_id
    await Promise.all(
      records.flatMap(({ memory_id, session_id }, i) => [
        backend.upsert(sampleRecord({ session_id }), vectors),
        backend.setRevoked(i % 2 === 0 ? { memory_id } : { session_id }, at),
        backend.supersede([memory_id], by),
        backend.count([memory_id], 'shown'),
        backend.upsert(sampleRecord({ session_id }), vectors),
      ]),
    )
    for (const { memory_id } of records) {
      const kept = { shown: 1, revoked_at: at, superseded_by: by }
      expect(await backend.get(memory_id)).toMatchObject(kept)
    }
    expect(await near(axis(0))).toEqual([])
  })

  it('tells what a record stood for when that is gone', async () => {
    const [old, by] = [sampleRecord(), sampleRecord({ session_id: 'run-2' })]
    for (const record of [old, by]) await backend.upsert(record, vectors)
    await backend.supersede([old.memory_id], by.memory_id)
    await backend.delete(by.memory_id)
    expect(await backend.supersededBy(by.memory_id)).toEqual([old.memory_id])
    await backend.supersede([old.memory_id], null)
    expect(await backend.supersededBy(by.memory_id)).toEqual([])
  })

  describe('list and delete', () => {
    it('lists by the moment of confirmation across time zones, in pages, and by session', async () => {
      const times = [
        '2026-11-01T10:00:00Z',
        '2026-11-01T10:30:00+02:00',
        '2026-11-01T09:00:00-05:00',
      ]
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

    it('lists by error type, repository and state, with the number of those', async () => {
      const sent = (name: string, changes: Partial<MemoryRecord> = {}) =>
        sampleRecord({ session_id: name, ...changes })
      const newest = sent('newest', {
        error_type: 'TypeError: x',
        timestamp: '2026-11-09T00:00:00Z',
      })
      const records = [
        newest,
        sent('old', { error_type: 'typeerror', timestamp: '2026-10-01T00:00:00Z' }),
        sent('elsewhere', { repository_id: 'repository-2' }),
        sent('revoked', { revoked_at: '2026-11-02T00:00:00Z' }),
        sent('superseded', { superseded_by: newest.memory_id }),
        sent('both', { revoked_at: '2026-11-02T00:00:00Z', superseded_by: newest.memory_id }),
      ]
      for (const record of records) await backend.upsert(record, vectors)
      const sessions = async (filter: ListFilter, limit = 10) => {
        const page = { ...all, limit, ...filter, session_id: filter.session_id ?? null }
        const { records: found, total } = await backend.list(page)
        return [total, ...found.map(({ session_id }) => session_id).sort()]
      }
      const notBefore = '2026-10-15T00:00:00Z'
      expect(await sessions({ error_type: ' TYPEERROR' })).toEqual([2, 'newest', 'old'])
      expect(await sessions({ error_type: 'TypeError' }, 1)).toEqual([2, 'newest'])
      expect(await sessions({ repository_id: 'repository-2' })).toEqual([1, 'elsewhere'])
      expect(await sessions({ state: 'revoked' })).toEqual([2, 'both', 'revoked'])
      expect(await sessions({ state: 'superseded' })).toEqual([1, 'superseded'])
      expect(await sessions({ state: 'live' })).toEqual([3, 'elsewhere', 'newest', 'old'])
      expect(await sessions({ state: 'live', notBefore })).toEqual([2, 'elsewhere', 'newest'])
      expect(await sessions({ state: 'expired', notBefore })).toEqual([1, 'old'])
      expect(await sessions({ state: 'expired' })).toEqual([0])
      expect(await sessions({ state: 'live', error_type: 'TypeError', session_id: 'old' })).toEqual(
        [1, 'old'],
      )
      expect(await sessions({ state: 'revoked', session_id: 'old' })).toEqual([0])
      await backend.setRevoked({ memory_id: newest.memory_id }, '2026-11-10T00:00:00Z')
      expect(await sessions({ state: 'revoked' }, 1)).toEqual([3, 'newest'])
    })

    it('scans every record once, in pages, whatever is deleted and updated meanwhile', async () => {
      const records = Array.from({ length: 6 }, (_, i) => sampleRecord({ session_id: `run-${i}` }))
      for (const record of records) await backend.upsert(record, vectors)
      const first = await backend.scan(null, 2, { vectors: true })
      expect(first.entries.map((entry) => entry.vectors)).toEqual([vectors, vectors])
      const seen = first.entries.map(({ memory_id }) => memory_id)
      const [gone, updated, ...others] = records.filter(
        ({ memory_id }) => !seen.includes(memory_id),
      )
      await backend.delete(gone?.memory_id ?? '')
      const changed = { ...sampleRecord(updated), model: 'another' }
      await backend.upsert(changed, vectors)
      const second = await backend.scan(first.next, 2)
      const last = await backend.scan(second.next, 3)
      expect(last.next).toBeNull()
      const rest = [...second.entries, ...last.entries]
      expect(rest.map(({ record }) => record)).toEqual(expect.arrayContaining([changed, ...others]))
      expect(rest).toHaveLength(3)
      expect(rest.map((entry) => entry.vectors)).toEqual([null, null, null])
      expect(await backend.scan(null, 4)).toMatchObject({ next: expect.any(String) })
    })

    it('deletes a record from every index, once', async () => {
      const record = sampleRecord()
      await backend.upsert(record, vectors)
      expect(await backend.delete(record.memory_id)).toBe(true)
      expect(await backend.delete(record.memory_id)).toBe(false)
      expect(await backend.get(record.memory_id)).toBeNull()
      expect(await near(axis(0))).toEqual([])
      expect(await near(axis(0), { text: record.symptom })).toEqual([])
      expect(await backend.countLive(live)).toBe(0)
    })
  })

  describe('two processes at one store', () => {
    it('let one of several records have a receipt, and say so to all others', async () => {
      const other = await open.another()
      const receipt = sampleReceipt(loadSigningKey(home))
      const records = Array.from({ length: 6 }, (_, i) =>
        sampleRecord({ receipt, fix_description: `story ${i % 3}` }),
      )
      const outcomes = await Promise.all(
        records.map((record, i) => (i % 2 === 0 ? backend : other).upsert(record, vectors)),
      )
      const { records: kept, total } = await backend.list(all)
      expect(total).toBe(1)
      const owner = kept[0]?.memory_id
      expect(outcomes).toEqual(
        records.map(({ memory_id }) =>
          memory_id === owner ? { status: 'stored' } : { status: 'receipt_used', memory_id: owner },
        ),
      )
      expect(await near(axis(0))).toHaveLength(1)
    })

    it('lose no count', async () => {
      const record = sampleRecord()
      await backend.upsert(record, vectors)
      const other = await open.another()
      const counting = traits.countsOfTwo ? other : backend
      const turns = Array.from({ length: 20 }, (_, i) => i)
      await Promise.all(
        turns.map((i) =>
          (i % 2 === 0 ? backend : counting).count(
            [record.memory_id],
            i < 10 ? 'shown' : 'confirmed',
          ),
        ),
      )
      expect(await other.get(record.memory_id)).toMatchObject({ shown: 10, confirmed: 10 })
    })

    it('see what the other wrote at once', async () => {
      const record = sampleRecord()
      const other = await open.another()
      await backend.upsert(record, vectors)
      expect(await other.get(record.memory_id)).toEqual(record)
      await other.setRevoked({ memory_id: record.memory_id }, '2026-11-02T00:00:00Z')
      expect(await near(axis(0))).toEqual([])
      await other.delete(record.memory_id)
      expect(await backend.get(record.memory_id)).toBeNull()
    })
  })
}

type Stored = { record: MemoryRecord; vectors: RecordVectors }

/** The ten nearest by symptom and the ten nearest by fix, by comparing with every record. */
function expectNearest(found: Candidate[], stored: Stored[], queries: Float32Array[]): void {
  const cosine = (own: Float32Array) => Math.max(...queries.map((each) => dot(each, own)))
  const all = stored.map(({ record, vectors }) => ({
    id: record.memory_id,
    symptom: cosine(vectors.symptom),
    fix: cosine(vectors.fix),
  }))
  const best = (by: 'symptom' | 'fix') => all.toSorted((a, b) => b[by] - a[by]).slice(0, 10)
  const wanted = new Map([...best('symptom'), ...best('fix')].map((each) => [each.id, each]))
  expect(found.map(({ record }) => record.memory_id).sort()).toEqual([...wanted.keys()].sort())
  for (const { record, cosine: near } of found) {
    const { symptom, fix } = wanted.get(record.memory_id) ?? absent
    expect(near.symptom).toBeCloseTo(symptom, 5)
    expect(near.fix).toBeCloseTo(fix, 5)
  }
}

const absent = { symptom: Number.NaN, fix: Number.NaN }

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0)
}
