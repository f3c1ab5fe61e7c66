import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createQdrantBackend } from '../../services/memory-store/qdrant/qdrant-backend.ts'
import { axis, dimensions } from '../support/backend-suite.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { sampleRecord } from '../support/memory.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'

const collection = 'astra_codebase_memory'
const vectors = { symptom: axis(0), fix: axis(1) }
const all = { limit: 10, offset: 0, session_id: null }
const cosine = { size: dimensions, distance: 'Cosine' }
const words = { words: { modifier: 'idf' } }

let double: DoubleServer
let backend: ReturnType<typeof createQdrantBackend>

beforeEach(() => serve({}))
afterEach(async () => {
  await backend.close()
  await double.stop()
})

async function serve(
  options: Parameters<typeof startQdrantDouble>[0],
  path = '',
  apiKey?: string,
): Promise<void> {
  await backend?.close()
  await double?.stop()
  double = await startQdrantDouble(options)
  backend = createQdrantBackend({ url: double.url + path, apiKey, collection, dimensions })
}

async function call(method: string, path: string, body: unknown): Promise<void> {
  await fetch(`${double.url}/collections/${path}`, { method, body: JSON.stringify(body) })
}

describe('a collection of another shape is refused and left as it is:', () => {
  it.each([
    ['one vector without a name', { vectors: cosine }, 'has no vector named symptom'],
    [
      'vectors of another size',
      { vectors: { symptom: cosine, fix: { ...cosine, size: 384 } }, sparse_vectors: words },
      'holds vectors of 384 dimensions',
    ],
    [
      'another distance',
      { vectors: { symptom: { ...cosine, distance: 'Dot' }, fix: cosine }, sparse_vectors: words },
      'compares by Dot',
    ],
    ['no words', { vectors: { symptom: cosine, fix: cosine } }, 'has no sparse vector named words'],
  ])('%s', async (_, shape, message) => {
    await call('PUT', collection, shape)
    const before = double.requests.length
    await expect(backend.reach()).rejects.toThrow(`collection ${collection} ${message}`)
    await expect(backend.upsert(sampleRecord(), vectors)).rejects.toThrow('it was not altered')
    const methods = double.requests.slice(before).map(({ method }) => method)
    expect(new Set(methods)).toEqual(new Set(['GET']))
  })

  it('while collections of others are none of our business', async () => {
    await call('PUT', 'photos', { vectors: cosine })
    expect(await backend.upsert(sampleRecord(), vectors)).toEqual({ status: 'stored' })
  })
})

it('asks for a newer server, or the right key, in words', async () => {
  await serve({ version: '1.16.3' })
  await expect(backend.reach()).rejects.toThrow('version 1.16.3, and the memory needs 1.17.0')
  await serve({ apiKey: 'right' }, '', 'wrong')
  await expect(backend.reach()).rejects.toMatchObject({
    code: 'memory_database',
    hint: 'is ASTRA_QDRANT_API_KEY right?',
  })
})

it('finds a server below a path', async () => {
  await serve({}, '/behind/a/proxy/')
  await expect(backend.reach()).rejects.toThrow('404')
  expect(double.requests.map(({ parts }) => parts)).toEqual([['behind', 'a', 'proxy']])
})

it('stores and counts once what the server did without saying so', async () => {
  const record = sampleRecord()
  double.trouble([{ kind: 'lose_answer' }, { kind: 'refuse', status: 503 }], /^PUT .*points$/)
  await backend.upsert(record, vectors)
  double.trouble([{ kind: 'lose_answer' }], /^POST .*payload$/)
  await backend.count([record.memory_id], 'shown')
  double.trouble([{ kind: 'lose_answer' }], /^POST .*payload$/)
  const at = '2026-11-02T00:00:00Z'
  expect(await backend.setRevoked({ session_id: 'run-1' }, at)).toBe(1)
  const kept = { ...record, shown: 1, revoked_at: at }
  expect(await backend.list(all)).toEqual({ records: [kept], total: 1 })
})

describe('a write that comes late', () => {
  const record = sampleRecord()
  const at = '2026-11-02T00:00:00Z'

  /** Holds back the next write to `path` until `meanwhile` has been done by another process. */
  async function late(
    path: RegExp,
    write: () => Promise<unknown>,
    meanwhile: () => Promise<unknown>,
  ) {
    const { promise: until, resolve } = Promise.withResolvers<void>()
    double.trouble([{ kind: 'hold', until }], path)
    const before = double.requests.length
    const written = write()
    const arrived = () =>
      double.requests
        .slice(before)
        .some(({ method, parts }) => path.test(`${method} ${parts.join('/')}`))
    while (!arrived()) await setImmediate()
    await meanwhile()
    resolve()
    await written
  }

  it('counts on top of what others counted', async () => {
    const other = createQdrantBackend({
      url: double.url,
      apiKey: undefined,
      collection,
      dimensions,
    })
    await backend.upsert(record, vectors)
    const count = (each: typeof other) => each.count([record.memory_id], 'shown')
    await late(
      /^POST .*payload$/,
      () => count(backend),
      () => count(other),
    )
    expect(await backend.get(record.memory_id)).toMatchObject({ shown: 2 })
    await other.close()
  })

  it('takes back no revocation, and brings back no deleted record in its old state', async () => {
    const other = createQdrantBackend({
      url: double.url,
      apiKey: undefined,
      collection,
      dimensions,
    })
    await backend.upsert({ ...record, shown: 5 }, vectors)
    const store = () => backend.upsert({ ...record, model: 'x' }, vectors)
    const path = /^PUT .*points$/
    await late(path, store, () => other.setRevoked({ memory_id: record.memory_id }, at))
    const revoked = { ...record, model: 'x', shown: 5, revoked_at: at }
    expect(await backend.get(record.memory_id)).toEqual(revoked)
    await late(path, store, () => other.delete(record.memory_id))
    expect(await backend.get(record.memory_id)).toEqual({ ...record, model: 'x' })
    await other.close()
  })
})

it('passes over a record that cannot be read, and names it to who looks at all', async () => {
  const [record, broken] = [sampleRecord(), sampleRecord({ session_id: 'run-broken' })]
  for (const each of [record, broken]) await backend.upsert(each, vectors)
  const garbage = { points: [broken.memory_id], payload: { record: '{"memory_id":' } }
  await call('POST', `${collection}/points/payload`, garbage)
  const live = { errorType: null, scope: null, notBefore: null }
  const found = await backend.candidates({ ...live, vectors: [axis(0)], text: '', limit: 10 })
  expect(found.map((each) => each.record)).toEqual([record])
  expect((await backend.list(all)).records).toEqual([record])
  const { entries } = await backend.scan(null, 10)
  expect(entries.find(({ memory_id }) => memory_id === broken.memory_id)).toMatchObject({
    session_id: 'run-broken',
    record: null,
  })
})
