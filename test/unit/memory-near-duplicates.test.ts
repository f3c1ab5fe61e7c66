import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bundledModel, type Embed, loadModel } from '../../services/embedder/model.ts'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { deleteMemory } from '../../services/memory-store/delete-memory.ts'
import { storeMerged } from '../../services/memory-store/lifecycle/store-merged.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { normaliseSymptom } from '../../shared/symptom.ts'
import { sampleReceipt, sampleRecord } from '../support/memory.ts'

const fixtures = join(import.meta.dirname, '..')
const trimmed = '-  return raw.split(",")\n+  return raw.split(",").map((each) => each.trim())'

let home: string
let key: SigningKey
let backend: MemoryBackend

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-memory-'))
  key = loadSigningKey(home)
  backend = openSqliteBackend({ file: join(home, 'memory.db'), dimensions: DIMENSIONS })
})

afterEach(async () => {
  await backend.close()
  await rm(home, { recursive: true, force: true })
})

/** A unit vector at `cosine` to that of 1. */
function at(cosine: number): Float32Array {
  const vector = new Float32Array(DIMENSIONS)
  vector[0] = cosine
  vector[1] = Math.sqrt(1 - cosine * cosine)
  return vector
}

/** A proved record of a session of its own, confirmed on that day of November. */
function proved(day: number, changes: Partial<MemoryRecord> = {}): MemoryRecord {
  const session_id = `run-${day}`
  const { repository_id = 'repository-1', failing_tests } = changes
  const receipt = sampleReceipt(key, {
    run_id: session_id,
    repository_id,
    ...(failing_tests ? { targets: failing_tests } : {}),
  })
  const timestamp = `2026-11-${String(day).padStart(2, '0')}T10:00:00Z`
  return sampleRecord({ session_id, timestamp, receipt, diff: trimmed, ...changes })
}

/** The same of the nth test. */
function provedOf(n: number, day: number): MemoryRecord {
  const [session_id, failing_tests] = [`run-${n}-${day}`, [`test/${n}.ts > a`]]
  const receipt = sampleReceipt(key, { run_id: session_id, targets: failing_tests })
  return proved(day, { session_id, failing_tests, receipt })
}

const alike = { symptom: at(1), fix: at(1) }
const store = (record: MemoryRecord, vectors = alike, into = backend) =>
  storeMerged({ backend: into, home }, record, vectors)
const stored = async ({ memory_id }: MemoryRecord) => {
  const record = await backend.get(memory_id)
  if (!record) throw new Error(`no record ${memory_id}`)
  return record
}
const live = async () => {
  const { records } = await backend.list({ limit: 500, offset: 0, session_id: null })
  return records.filter(({ superseded_by }) => superseded_by === null)
}

describe('a near-duplicate', () => {
  it('is found among any number of records of other tests with the same symptom', async () => {
    for (let n = 0; n < 45; n += 1) await store(provedOf(n, 1))
    for (const n of [0, 22, 44]) await store(provedOf(n, 2))
    const standing = await live()
    expect(standing).toHaveLength(45)
    expect(standing.filter(({ session_id }) => session_id.endsWith('-2'))).toHaveLength(3)
  })

  it('is stood for by the new record, which takes over its counters and names it', async () => {
    const [first, second, third] = [proved(1), proved(2), proved(3)]
    await store(first)
    await backend.count([first.memory_id], 'shown')
    await backend.count([first.memory_id], 'confirmed')
    await store(second)
    await backend.count([second.memory_id], 'shown')
    await backend.count([second.memory_id], 'unconfirmed')
    expect(await store(third)).toEqual({ status: 'stored' })
    expect(await live()).toEqual([
      {
        ...third,
        merged: [second.memory_id, first.memory_id],
        shown: 2,
        confirmed: 1,
        unconfirmed: 1,
      },
    ])
  })

  it('keeps all that it holds, its receipt and its own counters too', async () => {
    const [first, second] = [proved(1), proved(2)]
    await store(first)
    await backend.count([first.memory_id], 'shown')
    await store(second)
    expect(await stored(first)).toEqual({ ...first, shown: 1, superseded_by: second.memory_id })
    expect((await stored(second)).receipt).toEqual(second.receipt)
  })

  it('is merged once, however often the store is repeated, also that of the older one', async () => {
    const [first, second] = [proved(1), proved(2)]
    await store(first)
    await backend.count([first.memory_id], 'shown')
    await store(second)
    const [merged, behind] = [await stored(second), await stored(first)]
    for (const record of [second, first, second]) await store(record)
    expect(await stored(second)).toEqual(merged)
    expect(await stored(first)).toEqual(behind)
  })

  it('that comes late is stood for by the one that was confirmed after it', async () => {
    const [early, late] = [proved(1), proved(2)]
    await store(late)
    await store(early)
    expect(await live()).toEqual([late])
    expect(await stored(early)).toEqual({ ...early, superseded_by: late.memory_id })
  })

  it.each([
    ['of a revoked record', { revoked_at: '2026-11-03T00:00:00Z' }],
    ['of a record that another one stands for', { superseded_by: sampleRecord().memory_id }],
  ])('%s is not taken out of searches by a repeated store', async (_, changes) => {
    const [older, newer] = [proved(1), proved(2)]
    await backend.upsert({ ...newer, ...changes }, alike)
    await store(older)
    await store(newer)
    expect((await stored(older)).superseded_by).toBeNull()
    expect(await stored(newer)).toMatchObject(changes)
  })

  it('comes back when the record that stands for it is deleted', async () => {
    const [first, second, third] = [proved(1), proved(2), proved(3)]
    for (const record of [first, second, third]) await store(record)
    expect(await deleteMemory({ memory_id: third.memory_id }, backend)).toEqual({
      deleted: true,
      brought_back: [second.memory_id],
    })
    expect((await live()).map(({ memory_id }) => memory_id)).toEqual([second.memory_id])
    expect(await deleteMemory({ memory_id: second.memory_id }, backend)).toEqual({
      deleted: true,
      brought_back: [first.memory_id],
    })
    expect(await live()).toEqual([first])
  })

  it('goes to the next one when what stands between them is deleted', async () => {
    const [first, second, third] = [proved(1), proved(2), proved(3)]
    for (const record of [first, second, third]) await store(record)
    const deleted = { deleted: true, brought_back: [] }
    expect(await deleteMemory({ memory_id: second.memory_id }, backend)).toEqual(deleted)
    expect((await stored(first)).superseded_by).toBe(third.memory_id)
  })

  it('stays out when the record that stands for it was revoked, and then deleted', async () => {
    const [first, second] = [proved(1), proved(2)]
    for (const record of [first, second]) await store(record)
    await backend.setRevoked({ memory_id: second.memory_id }, '2026-11-03T00:00:00Z')
    expect((await stored(first)).superseded_by).toBe(second.memory_id)
    await deleteMemory({ memory_id: second.memory_id }, backend)
    expect((await stored(first)).superseded_by).toBe(second.memory_id)
  })
})

describe('two records stay two', () => {
  const others: [string, () => MemoryRecord, typeof alike][] = [
    ['of other repositories', () => proved(2, { repository_id: 'repository-2' }), alike],
    [
      'of other groups, which would not see each other',
      () => proved(2, { group: 'team-b' }),
      alike,
    ],
    ['of another error type', () => proved(2, { error_type: 'TypeError' }), alike],
    ['of other failing tests', () => proved(2, { failing_tests: ['test/b.ts > b'] }), alike],
    ['with another symptom', () => proved(2), { symptom: at(0.89), fix: at(1) }],
    ['whose words are about something else', () => proved(2), { symptom: at(1), fix: at(0.49) }],
    [
      'with other changes in like words',
      () => proved(2, { diff: '-a\n+b' }),
      { symptom: at(1), fix: at(0.94) },
    ],
    ['without a receipt', () => proved(2, { receipt: null }), alike],
    ['without a symptom', () => proved(2, { symptom: ' ' }), alike],
  ]
  it.each(others)('%s', async (_, other, vectors) => {
    await store(proved(1))
    await store(other(), vectors)
    expect(await live()).toHaveLength(2)
    expect((await live()).map(({ merged }) => merged)).toEqual([[], []])
  })

  it('where the older one is unproved', async () => {
    await backend.upsert(proved(1, { receipt: null, shown: 1000, confirmed: 1000 }), alike)
    await store(proved(2))
    expect(await live()).toHaveLength(2)
    expect(await stored(proved(2))).toMatchObject({ merged: [], confirmed: 0 })
  })
})

it('a receipt that has stored another record merges nothing', async () => {
  const [first, second] = [proved(1), proved(2)]
  await store(first)
  await store(second)
  const third = proved(3, { session_id: 'run-2', fix_description: 'told again' })
  const used = sampleReceipt(key, { run_id: 'run-2' })
  const again = { ...third, receipt: used }
  expect(await store(again)).toEqual({ status: 'receipt_used', memory_id: second.memory_id })
  expect((await live()).map(({ memory_id }) => memory_id)).toEqual([second.memory_id])
})

describe('stores at the same time, over several connections to one database,', () => {
  it('end with one live record and no circle, whatever the order of their steps', async () => {
    const others = Array.from({ length: 3 }, () =>
      openSqliteBackend({ file: join(home, 'memory.db'), dimensions: DIMENSIONS }),
    )
    try {
      for (let round = 0; round < 20; round += 1) {
        const session = (name: string) => ({
          failing_tests: [`test/${round}.ts > a`],
          session_id: `run-${round}-${name}`,
        })
        const records = ['a', 'b', 'c'].map((name, i) => {
          const changes = session(name)
          const receipt = sampleReceipt(key, {
            run_id: changes.session_id,
            targets: changes.failing_tests,
          })
          return proved(1 + ((i + round) % 3), { ...changes, receipt })
        })
        await Promise.all(records.map((record, i) => store(record, alike, others[i] ?? backend)))
        const after = await Promise.all(records.map(stored))
        const left = after.filter(({ superseded_by }) => superseded_by === null)
        expect(left).toHaveLength(1)
        const latest = records.toSorted((a, b) => b.timestamp.localeCompare(a.timestamp))[0]
        expect(left[0]?.memory_id).toBe(latest?.memory_id)
      }
    } finally {
      for (const other of others) await other.close()
    }
  })
})

describe('with the bundled model', () => {
  let embed: Embed
  beforeAll(async () => {
    embed = await loadModel(bundledModel)
  })

  const symptom = 'not ok - takes a list with spaces expected true, got false'
  async function storeText(record: MemoryRecord): Promise<void> {
    const { symptom: text, fix_description } = record
    await store(record, { symptom: await embed(text), fix: await embed(fix_description) })
  }

  it('none of a hundred different fixes merges, though all fail the same test of one repository', async () => {
    const text = await readFile(join(fixtures, 'eval/corpus/fixes.jsonl'), 'utf8')
    const fixes = text.split('\n').filter((line) => line.trim() !== '')
    for (const [i, line] of fixes.entries()) {
      const { error_type, fix_description, ...fix } = JSON.parse(line)
      const session_id = `run-${i}`
      const receipt = sampleReceipt(key, { run_id: session_id })
      const own = { session_id, receipt, error_type, fix_description, diff: '' }
      await storeText(proved(1, { ...own, symptom: normaliseSymptom(fix.symptom) }))
    }
    expect(await live()).toHaveLength(100)
  })

  it('one change told in other words merges, and other changes of the same test do not', async () => {
    const pairs = JSON.parse(
      await readFile(join(fixtures, 'fixtures/memory/fix-pairs.json'), 'utf8'),
    )
    for (const [name, expected] of [
      ['same_fix', 1],
      ['other_fix', 2],
    ] as const) {
      for (const [i, [one, other]] of pairs[name].entries()) {
        const failing_tests = [`test/${name}.ts > ${i}`]
        const diff = (n: number) => (name === 'same_fix' ? trimmed : `-old ${i}\n+new ${n}`)
        for (const [n, fix_description] of [one, other].entries()) {
          const session_id = `run-${name}-${i}-${n}`
          const receipt = sampleReceipt(key, { run_id: session_id, targets: failing_tests })
          const told = { fix_description, failing_tests, session_id, receipt, diff: diff(n) }
          await storeText(proved(n + 1, { ...told, symptom }))
        }
        const left = (await live()).filter((each) => each.failing_tests[0] === failing_tests[0])
        expect(left, `${one} / ${other}`).toHaveLength(expected)
      }
    }
  })
})
