import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { importMemory } from '../../services/memory-store/import-memory.ts'
import { storeMerged } from '../../services/memory-store/lifecycle/store-merged.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import type { Transferred } from '../../shared/contracts/memory-transfer.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { DIMENSIONS, encodeVector } from '../../shared/contracts/vector.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { createScrubber } from '../../shared/scrub/scrubber.ts'
import { fakeSecrets } from '../support/fake-secrets.ts'
import { sampleReceipt, sampleRecord, seededVector } from '../support/memory.ts'

const { github } = fakeSecrets
const vector = seededVector(1, DIMENSIONS)
const vectors = { symptom: vector, fix: vector }
const sent = { symptom: encodeVector(vector), fix: encodeVector(vector) }

let home: string
let key: SigningKey
let backend: MemoryBackend

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-import-'))
  key = loadSigningKey(home)
  backend = openSqliteBackend({ file: join(home, 'memory.db'), dimensions: DIMENSIONS })
})
afterEach(async () => {
  await backend.close()
  await rm(home, { recursive: true, force: true })
})

/** A proved record of a session of its own, confirmed on that day: all of them are near-duplicates. */
function proved(day: number, changes: Partial<MemoryRecord> = {}): MemoryRecord {
  const session_id = `run-${day}`
  const timestamp = `2026-11-0${day}T10:00:00Z`
  const receipt = sampleReceipt(key, { run_id: session_id })
  return sampleRecord({ session_id, timestamp, receipt, ...changes })
}

/** Imports them with their vectors, in this order; `begunBefore`: how often the job was begun. */
async function imported(records: Transferred[], { begunBefore = 0, embedded = 0 } = {}) {
  const made = { vectors: Array.from({ length: embedded }, () => encodeVector(vector)) }
  const children = async () => (embedded > 0 ? [{ ok: true as const, value: made }] : [])
  const { signal } = new AbortController()
  const context = { children, signal, begunBefore }
  const deps = { backend, home, scrub: createScrubber([]) }
  return (await importMemory({ records }, context, deps)).outcomes
}
const withVectors = (record: MemoryRecord): Transferred => ({ ...record, vectors: sent })
const stored = ({ memory_id }: MemoryRecord) => backend.get(memory_id)

describe('near-duplicates of an import', () => {
  const [early, late] = [
    () => proved(1, { shown: 4, confirmed: 2, unconfirmed: 1 }),
    () => proved(2, { shown: 10, confirmed: 5 }),
  ]
  const merged = { shown: 14, confirmed: 7, unconfirmed: 1, superseded_by: null }

  it.each([
    ['the older one comes first', () => [early(), late()]],
    ['the later one comes first', () => [late(), early()]],
  ])('become one with the counters of all, and keep what they hold, when %s', async (_, order) => {
    const outcomes = await imported(order().map(withVectors))
    expect(outcomes.map(({ status }) => status)).toEqual(['imported', 'imported'])
    expect(await stored(late())).toMatchObject(merged)
    expect(await stored(early())).toEqual({ ...early(), superseded_by: late().memory_id })
  })

  it.each([
    ['an older record that is there is stood for', early, late],
    ['a later record that is there stands for them', late, early],
  ])('%s', async (_, there, comes) => {
    await backend.upsert(there(), vectors)
    await imported([withVectors(comes())])
    expect(await stored(late())).toMatchObject(merged)
    expect(await stored(early())).toEqual({ ...early(), superseded_by: late().memory_id })
  })

  it('are counted once, when the import is repeated and when its job is', async () => {
    const both = [late(), early()].map(withVectors)
    await imported(both)
    const before = await Promise.all([stored(late()), stored(early())])
    for (const begunBefore of [0, 1]) {
      const outcomes = await imported(both, { begunBefore })
      expect(outcomes).toEqual([{ status: 'present' }, { status: 'present' }])
      expect(await Promise.all([stored(late()), stored(early())])).toEqual(before)
    }
  })

  it('that had become one elsewhere are so here, and their counters are not added again', async () => {
    await backend.upsert(early(), vectors)
    const whole = { ...late(), merged: [early().memory_id] }
    await imported([{ ...early(), superseded_by: late().memory_id }, whole].map(withVectors))
    expect(await stored(late())).toEqual(whole)
    expect((await stored(early()))?.superseded_by).toBe(late().memory_id)
  })

  it.each([
    ['the older', () => [early(), late()], () => []],
    ['the later', () => [late()], () => [early().memory_id]],
  ])(
    'are merged by the next try, when a process dies between a record and its merging (%s first)',
    async (_, again, named) => {
      for (const record of [early(), late()]) await backend.upsert(record, vectors)
      await imported(again().map(withVectors), { begunBefore: 1 })
      expect(await stored(late())).toMatchObject({ ...merged, merged: named() })
      expect((await stored(early()))?.superseded_by).toBe(late().memory_id)
    },
  )

  it('are not merged by another try into one that was revoked meanwhile', async () => {
    const revoked = { ...late(), revoked_at: '2026-11-03T00:00:00Z' }
    for (const record of [early(), revoked]) await backend.upsert(record, vectors)
    await imported([withVectors(late())], { begunBefore: 1 })
    expect(await stored(early())).toEqual(early())
  })

  it('keep the names of those that they stood for elsewhere', async () => {
    const { memory_id } = sampleRecord({ session_id: 'run-of-another-store' })
    await imported([early(), { ...late(), merged: [memory_id] }].map(withVectors))
    expect((await stored(late()))?.merged).toEqual([memory_id, early().memory_id])
  })

  it('stay two when nothing proves one of them', async () => {
    await imported([early(), { ...late(), receipt: null }].map(withVectors))
    for (const record of [early(), late()]) {
      expect((await stored(record))?.superseded_by).toBeNull()
    }
  })

  it('that were revoked elsewhere come revoked, and stand for nothing', async () => {
    await imported([early(), { ...late(), revoked_at: '2026-11-03T00:00:00Z' }].map(withVectors))
    expect(await stored(early())).toEqual(early())
    expect((await stored(late()))?.revoked_at).toBe('2026-11-03T00:00:00Z')
  })
})

describe('a record that is there', () => {
  it('stays as it is, whatever the file says of it', async () => {
    await storeMerged({ backend, home }, proved(1, { shown: 3 }), vectors)
    const told = { ...proved(1), shown: 99, symptom: 'another', model: 'another' }
    for (const record of [told, withVectors(told)]) {
      expect(await imported([record])).toEqual([{ status: 'present' }])
    }
    expect(await stored(proved(1))).toEqual(proved(1, { shown: 3 }))
    expect((await backend.list({ limit: 1, offset: 0, session_id: null })).total).toBe(1)
  })
})

it('a record whose words were altered is left out, as its id says', async () => {
  const [outcome] = await imported([withVectors({ ...proved(1), fix_description: 'Trim nothing' })])
  expect(outcome).toMatchObject({ message: expect.stringContaining('its id does not follow') })
  expect((await backend.list({ limit: 1, offset: 0, session_id: null })).total).toBe(0)
})

describe('secrets of an import', () => {
  it('are taken out, and vectors of the text that held one are made anew', async () => {
    const tainted = proved(1, { symptom: `401 with ${github}`, diff: `+ ${github}` })
    expect(await imported([withVectors(tainted)])).toEqual([{ status: 'needs_vectors' }])
    expect(await imported([tainted], { embedded: 2 })).toEqual([
      { status: 'imported', proved: true },
    ])
    expect(await stored(tainted)).toMatchObject({
      symptom: '401 with [removed: github]',
      diff: '+ [removed: github]',
      scrubbed: [{ rule: 'github', count: 2 }],
    })
  })

  it.each([
    ['its id follows from', { fix_description: `Sent ${github}` }, /its fix, error type, files/],
    ['its receipt is signed with', { failing_tests: [`sends ${github}`] }, /signed with it/],
  ])('that %s leave it out', async (_, changes, message) => {
    const targets = 'failing_tests' in changes ? { targets: changes.failing_tests } : {}
    const receipt = sampleReceipt(key, { run_id: 'run-1', ...targets })
    const [outcome] = await imported([withVectors(proved(1, { ...changes, receipt }))])
    expect(outcome).toEqual({ status: 'refused', message: expect.stringMatching(message) })
    expect(JSON.stringify(outcome)).not.toContain(github)
    expect((await backend.list({ limit: 1, offset: 0, session_id: null })).total).toBe(0)
  })
})
