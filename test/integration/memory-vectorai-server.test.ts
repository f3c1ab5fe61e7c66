import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LiveFilter } from '../../services/memory-store/backend.ts'
import { proofProblem } from '../../services/memory-store/proof.ts'
import { createVectoraiBackend } from '../../services/memory-store/vectorai/vectorai-backend.ts'
import { memoryIdOf } from '../../shared/contracts/ids.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { axis, dimensions } from '../support/backend-suite.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { sampleReceipt, sampleRecord } from '../support/memory.ts'
import { startVectoraiDouble, type VectoraiOptions } from '../support/vectorai-double.ts'

const collection = 'astra_codebase_memory'
const vectors = { symptom: axis(0), fix: axis(1) }
const live: LiveFilter = { errorType: null, scope: null, notBefore: null }
const all = { limit: 10, offset: 0, session_id: null }

let double: DoubleServer
let backend: ReturnType<typeof createVectoraiBackend>
let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-keys-'))
  await serve()
})
afterEach(async () => {
  await backend.close()
  await double.stop()
  await rm(home, { recursive: true, force: true })
})

async function serve(options: VectoraiOptions = {}): Promise<void> {
  await backend?.close()
  await double?.stop()
  double = await startVectoraiDouble(options)
  backend = createVectoraiBackend({ url: double.url, token: undefined, collection, dimensions })
}

async function put(path: string, body: unknown): Promise<void> {
  await fetch(`${double.url}/collections/${path}`, { method: 'PUT', body: JSON.stringify(body) })
}

async function pointCount(): Promise<number> {
  const url = `${double.url}/collections/${collection}/points/count`
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ exact: true }) })
  const { result } = (await answer.json()) as { result: { count: number } }
  return result.count
}

const near = (vector: Float32Array, changes: Partial<LiveFilter> = {}) =>
  backend.candidates({ ...live, vectors: [vector], text: '', limit: 10, ...changes })

describe('a database that is not ours to use is refused and left as it is:', () => {
  it.each([
    ['with a collection of another program', 'photos', { size: dimensions, distance: 'Cosine' }],
    ['with vectors of another size', collection, { size: 384, distance: 'Cosine' }],
    ['with another distance', collection, { size: dimensions, distance: 'Dot' }],
  ])('%s', async (_, name, shape) => {
    await put(name, { vectors: shape })
    const before = double.requests.length
    await expect(backend.reach()).rejects.toThrow(/altered/)
    await expect(backend.upsert(sampleRecord(), vectors)).rejects.toThrow(/altered/)
    const methods = double.requests.slice(before).map(({ method }) => method)
    expect(new Set(methods)).toEqual(new Set(['GET']))
  })
})

describe('a collection that the program of the tutorial has filled', () => {
  const tutorial = (changes: { session_id: string; error_type?: string; timestamp?: string }) => {
    const said = {
      fix_description: 'Trim whitespace around each allowed origin',
      error_type: 'AssertionError',
      outcome: 'pytest passed with exit code 0',
      file_paths: ['app/service.py'],
      timestamp: '2026-09-15T12:11:51.934136+00:00',
      ...changes,
    }
    return { ...said, memory_id: memoryIdOf(said) }
  }
  const one = tutorial({ session_id: 'live-1-alpha' })
  const other = tutorial({ session_id: 'live-2', error_type: 'KeyError: x' })
  const old = tutorial({ session_id: 'live-0', timestamp: '2020-01-01T00:00:00+00:00' })

  beforeEach(async () => {
    await put(collection, { vectors: { size: dimensions, distance: 'Cosine' } })
    const points = [one, other, old].map((payload) => ({
      id: payload.memory_id,
      vector: [...axis(3)],
      payload,
    }))
    await put(`${collection}/points?wait=true`, { points })
  })

  it('is read, searched by its one vector, and proves nothing', async () => {
    const found = await near(axis(3))
    expect(found.map(({ cosine }) => cosine)).toEqual(Array(3).fill({ symptom: 1, fix: 1 }))
    const record = await backend.get(one.memory_id)
    expect(record).toMatchObject({ ...one, symptom: '', receipt: null, shown: 0 })
    expect(record && proofProblem(record, new Map())).toMatchObject({ reason: 'no_receipt' })
    expect((await backend.list(all)).records.map(({ session_id }) => session_id)).toEqual([
      'live-1-alpha',
      'live-2',
      'live-0',
    ])
    const { entries } = await backend.scan(null, 10, { vectors: true })
    expect(entries.map((entry) => entry.vectors)).toEqual(
      Array(3).fill({ symptom: axis(3), fix: axis(3) }),
    )
  })

  it('keeps to error types, scopes and expiry as all records do', async () => {
    const sessions = async (changes: Partial<LiveFilter>) => {
      const found = await near(axis(3), changes)
      expect(await backend.countLive({ ...live, ...changes })).toBe(found.length)
      return found.map(({ record }) => record.session_id).sort()
    }
    expect(await sessions({ errorType: 'keyerror' })).toEqual(['live-2'])
    expect(await sessions({ notBefore: '2026-01-01T00:00:00Z' })).toEqual([
      'live-1-alpha',
      'live-2',
    ])
    expect(await sessions({ scope: { repository_id: 'repository-1' } })).toEqual([])
  })

  it('stands beside records of our own, and can be revoked and counted', async () => {
    await backend.upsert(sampleRecord(), vectors)
    await backend.count([one.memory_id], 'shown')
    expect(await backend.setRevoked({ session_id: 'live-2' }, '2026-11-02T00:00:00Z')).toBe(1)
    expect(await near(axis(3))).toHaveLength(3)
    expect(await backend.countLive(live)).toBe(3)
    expect(await backend.get(one.memory_id)).toMatchObject({ shown: 1 })
  })
})

describe('a server in trouble', () => {
  it('is waited for while its engine starts', async () => {
    double.trouble([
      { kind: 'refuse', status: 412 },
      { kind: 'refuse', status: 412 },
      { kind: 'refuse', status: 429 },
    ])
    expect(await backend.upsert(sampleRecord(), vectors)).toEqual({ status: 'stored' })
  })

  it('stores once what it did in part, or did without saying so', async () => {
    double.trouble([{ kind: 'half' }, { kind: 'lose_answer' }], /^PUT .*points$/)
    double.trouble([{ kind: 'lose_answer' }], /^POST .*payload$/)
    const record = sampleRecord()
    await backend.upsert(record, vectors)
    await backend.count([record.memory_id], 'shown')
    expect(await backend.get(record.memory_id)).toEqual({ ...record, shown: 1 })
    expect(await pointCount()).toBe(2)
  })

  it('keeps the record that was there when it fails in the middle of an update', async () => {
    const record = sampleRecord()
    await backend.upsert(record, vectors)
    const refused = Array(3).fill({ kind: 'refuse', status: 500 })
    const moved = { symptom: axis(4), fix: axis(5) }
    const changed = { ...record, model: 'x', repository_id: 'another' }
    // The new symptom's point is written; the main point, which counts, is not.
    double.trouble([{ kind: 'lose_answer' }], /^PUT .*points$/)
    double.trouble(refused, /^PUT .*points$/)
    await expect(backend.upsert(changed, moved)).rejects.toThrow('does not answer')
    expect(await backend.get(record.memory_id)).toEqual(record)
    expect(await near(axis(4), { scope: { repository_id: 'another' } })).toEqual([])
    expect((await near(axis(4)))[0]?.cosine).toEqual({ symptom: 0, fix: 0 })
    expect(await pointCount()).toBe(3)
    await backend.upsert(changed, moved)
    expect((await near(axis(4)))[0]?.cosine).toEqual({ symptom: 1, fix: 0 })
    expect(await pointCount()).toBe(2)
  })

  it('hides a record first and brings it back last, whatever fails in between', async () => {
    const { memory_id } = sampleRecord()
    await backend.upsert(sampleRecord(), vectors)
    for (const at of ['2026-11-02T00:00:00Z', null]) {
      const passed = { kind: 'hold', until: Promise.resolve() } as const
      double.trouble([passed, ...Array(3).fill({ kind: 'refuse', status: 500 })], /payload$/)
      await expect(backend.setRevoked({ memory_id }, at)).rejects.toThrow('does not answer')
      expect(await near(axis(0))).toEqual([])
      expect(await backend.countLive(live)).toBe(0)
    }
    expect(await backend.setRevoked({ memory_id }, null)).toBe(1)
    expect((await near(axis(0)))[0]?.cosine).toEqual({ symptom: 1, fix: 0 })
  })

  it('says what to do when the free edition is full, and takes records again after a delete', async () => {
    await serve({ capacity: 3 })
    const first = sampleRecord()
    await backend.upsert(first, vectors)
    const second = sampleRecord({ session_id: 'run-2' })
    const full = backend.upsert(second, vectors)
    await expect(full).rejects.toThrow('is full')
    await expect(full).rejects.toMatchObject({ code: 'unavailable', hint: /5,000 vectors/ })
    expect(await backend.get(second.memory_id)).toBeNull()
    await backend.delete(first.memory_id)
    expect(await backend.upsert(second, vectors)).toEqual({ status: 'stored' })
  })
})

describe('receipts', () => {
  it('go to whoever claims them after a claimer has died over it', async () => {
    const receipt = sampleReceipt(loadSigningKey(home))
    const dead = sampleRecord({ receipt, fix_description: 'never stored' })
    const alive = sampleRecord({ receipt })
    await backend.upsert(dead, vectors)
    await setClaim(dead.memory_id, Date.now() - 3_600_000)
    expect(await backend.get(dead.memory_id)).toBeNull()
    expect(await backend.upsert(alive, vectors)).toEqual({ status: 'stored' })
    expect(await backend.upsert(dead, vectors)).toEqual({
      status: 'receipt_used',
      memory_id: alive.memory_id,
    })
    expect(await pointCount()).toBe(2)
  })

  it('go to nobody while another may still get them', async () => {
    const receipt = sampleReceipt(loadSigningKey(home))
    const rival = sampleRecord({ receipt, fix_description: 'being stored' })
    const record = sampleRecord({ receipt })
    await backend.upsert(rival, vectors)
    await setClaim(rival.memory_id, Date.now())
    expect(await backend.list(all)).toEqual({ records: [], total: 0 })
    expect((await backend.scan(null, 10)).entries).toEqual([])
    expect(await backend.countOfRepository('repository-1')).toBe(0)
    expect(await near(axis(0))).toEqual([])
    await expect(backend.upsert(record, vectors)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await backend.upsert(rival, vectors)).toEqual({ status: 'stored' })
    expect(await backend.upsert(record, vectors)).toMatchObject({ status: 'receipt_used' })
  })

  async function setClaim(id: string, claimed_ms: number): Promise<void> {
    const url = `${double.url}/collections/${collection}/points/payload`
    const body = { points: [id], payload: { claim: 'pending', claimed_ms } }
    await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  }
})

it('passes over a record that cannot be read, and names it to who looks at all', async () => {
  const record = sampleRecord()
  await backend.upsert(record, vectors)
  const broken = sampleRecord({ session_id: 'run-broken' })
  await backend.upsert(broken, vectors)
  const url = `${double.url}/collections/${collection}/points/payload`
  const body = { points: [broken.memory_id], payload: { record: '{"memory_id":' } }
  await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  expect((await near(axis(0))).map((each) => each.record)).toEqual([record])
  expect((await backend.list(all)).records).toEqual([record])
  expect(await backend.get(broken.memory_id)).toBeNull()
  const { entries } = await backend.scan(null, 10)
  expect(entries.find(({ memory_id }) => memory_id === broken.memory_id)).toEqual({
    memory_id: broken.memory_id,
    session_id: 'run-broken',
    record: null,
    vectors: null,
  })
})
