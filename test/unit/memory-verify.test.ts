import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { getMemory } from '../../services/memory-store/get-memory.ts'
import type { MemoryPolicy } from '../../services/memory-store/lifecycle/policy.ts'
import { listMemory } from '../../services/memory-store/list-memory.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { verifyMemory } from '../../services/memory-store/verify-memory.ts'
import type { Payload } from '../../shared/contracts/catalog.ts'
import type { UnprovedReason } from '../../shared/contracts/memory.ts'
import type { ReceiptBody } from '../../shared/contracts/receipt.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { removeTrustedKey } from '../../shared/keys/trusted-keys.ts'
import { sampleReceipt, sampleRecord, seededVector, shareAll } from '../support/memory.ts'

const dimensions = 8
const vector = seededVector(1, dimensions)
const signal = new AbortController().signal

let home: string
let key: SigningKey
let backend: MemoryBackend
let deps: { backend: MemoryBackend; home: string; policy: MemoryPolicy }

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-memory-'))
  key = loadSigningKey(home)
  backend = openSqliteBackend({ file: join(home, 'memory.db'), dimensions })
  deps = { backend, home, policy: shareAll }
})

afterEach(async () => {
  await backend.close()
  await rm(home, { recursive: true, force: true })
})

/** Puts a record into the store without its check, as one who writes to its file can. */
const plant = (changes: Partial<MemoryRecord>) =>
  backend.upsert({ ...sampleRecord(changes), ...changes }, { symptom: vector, fix: vector })
const receiptOf = (run_id: string, changes: Partial<ReceiptBody> = {}) =>
  sampleReceipt(key, { run_id, ...changes })
const plantProved = (session_id: string) => plant({ session_id, receipt: receiptOf(session_id) })
const verify = (payload: Payload<'memory', 'verify'>) => verifyMemory(payload, { signal }, deps)

describe('a record that nothing proves any more', () => {
  it('is labelled where records are listed and shown, with the reason where it is shown', async () => {
    await plantProved('run-1')
    const page = { limit: 9, offset: 0, session_id: null }
    const listed = async () => (await listMemory(page, deps)).records
    const [record] = await listed()
    const shown = () => getMemory({ memory_id: record?.memory_id ?? '' }, deps)
    expect(record).toMatchObject({ session_id: 'run-1', proved: true })
    expect(await shown()).toMatchObject({ record: { session_id: 'run-1' }, unproved: null })
    const older = await plant({ session_id: 'run-0', superseded_by: record?.memory_id ?? null })
    expect(older).toEqual({ status: 'stored' })
    expect((await shown()).stands_for).toHaveLength(1)
    await backend.delete((await shown()).stands_for[0] ?? '')
    removeTrustedKey(home, key.keyId)
    expect(await listed()).toEqual([{ ...record, proved: false }])
    expect((await shown()).unproved).toMatchObject({ reason: 'untrusted_key' })
  })
})

describe('verify', () => {
  it('finds an empty memory in order', async () => {
    const nothing = { proved: 0, unproved: {}, named: [], next: null }
    expect(await verify({ after: null, named: 5 })).toEqual(nothing)
  })

  it('counts what is proved and names each other record with its session and what is wrong', async () => {
    await plantProved('run-proved')
    const wrong: [UnprovedReason, Partial<MemoryRecord>][] = [
      ['no_receipt', { receipt: null }],
      ['untrusted_key', { receipt: { ...receiptOf('run-untrusted_key'), key_id: '0'.repeat(16) } }],
      ['altered_receipt', { receipt: { ...receiptOf('run-altered_receipt'), signature: 'AAAA' } }],
      ['altered_record', { memory_id: randomUUID(), receipt: receiptOf('run-altered_record') }],
      ['other_run', { receipt: receiptOf('run-other') }],
      [
        'other_outcome',
        { receipt: receiptOf('run-other_outcome', { outcome: 'pytest passed with exit code 0' }) },
      ],
      ['other_runner', { framework: 'vitest', receipt: receiptOf('run-other_runner') }],
      [
        'other_repository',
        { receipt: receiptOf('run-other_repository', { repository_id: 'another' }) },
      ],
      ['other_tests', { receipt: receiptOf('run-other_tests', { targets: ['a'] }) }],
    ]
    for (const [reason, changes] of wrong) await plant({ session_id: `run-${reason}`, ...changes })
    const { named, ...counts } = await verify({ after: null, named: 100 })
    expect(counts).toEqual({
      proved: 1,
      unproved: Object.fromEntries(wrong.map(([reason]) => [reason, 1])),
      next: null,
    })
    const sessions = wrong.map(([reason]) => [reason, `run-${reason}`])
    expect(named.map(({ reason, session_id }) => [reason, session_id])).toEqual(sessions)
    expect(named[0]?.message).toBe('there is no receipt')
  })

  it('looks at one session, error type or repository alone when that is asked for', async () => {
    await plantProved('run-1')
    await plant({ session_id: 'run-1', receipt: null, error_type: 'TypeError: x' })
    await plant({ session_id: 'run-2', receipt: null, repository_id: 'elsewhere' })
    const sums = async (fields: Partial<Payload<'memory', 'verify'>>) => {
      const { proved, named } = await verify({ after: null, named: 9, ...fields })
      return [proved, ...named.map(({ session_id }) => session_id)]
    }
    expect(await sums({ session_id: 'run-1' })).toEqual([1, 'run-1'])
    expect(await sums({ error_type: 'typeerror' })).toEqual([0, 'run-1'])
    expect(await sums({ repository_id: 'elsewhere' })).toEqual([0, 'run-2'])
    expect(await sums({ session_id: 'run-1', repository_id: 'elsewhere' })).toEqual([0])
  })

  it('counts a record that cannot be read, which all else passes over, and goes on behind it', async () => {
    await plant({ session_id: 'run-broken', receipt: null })
    await plantProved('run-1')
    const db = new DatabaseSync(join(home, 'memory.db'))
    db.exec(`UPDATE memories SET record = '{"memory_id":' WHERE session_id = 'run-broken'`)
    db.close()
    const all = { errorType: null, scope: null, notBefore: null }
    const found = await backend.candidates({ ...all, vectors: [vector], text: '', limit: 10 })
    const { records } = await backend.list({ limit: 10, offset: 0, session_id: null })
    for (const each of [found.map(({ record }) => record), records]) {
      expect(each.map(({ session_id }) => session_id)).toEqual(['run-1'])
    }
    expect(await verify({ after: null, named: 5 })).toMatchObject({
      proved: 1,
      unproved: { unreadable_record: 1 },
      named: [{ session_id: 'run-broken', message: 'the stored record cannot be read' }],
    })
  })

  it('ends after some hundred records and goes on there; all are counted, the first named', async () => {
    const count = 620
    for (let i = 0; i < count; i += 1) await plant({ session_id: `run-${i}` })
    const first = await verify({ after: null, named: 3 })
    expect(first.unproved.no_receipt).toBeLessThan(count)
    expect(first.named.map(({ session_id }) => session_id)).toEqual(['run-0', 'run-1', 'run-2'])
    const second = await verify({ after: first.next, named: 0 })
    expect(second).toMatchObject({ named: [], next: null })
    expect((first.unproved.no_receipt ?? 0) + (second.unproved.no_receipt ?? 0)).toBe(count)
  })

  it('stops between two pages when its job was taken away', async () => {
    for (let i = 0; i < 101; i += 1) await plant({ session_id: `run-${i}` })
    const lost = { signal: AbortSignal.abort(new Error('lost the lock')) }
    const verifying = verifyMemory({ after: null, named: 0 }, lost, deps)
    await expect(verifying).rejects.toThrow('lost the lock')
  })
})
