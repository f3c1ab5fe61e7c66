import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyMemory } from '../../services/cli/verify-memory.ts'
import { openDatabase } from '../../services/memory-store/sqlite/open-database.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { redisSocketPath } from '../../shared/config.ts'
import type { JobName, Payload, Result } from '../../shared/contracts/catalog.ts'
import { jobIdOf, memoryIdOf } from '../../shared/contracts/ids.ts'
import type { StorePayload } from '../../shared/contracts/memory.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { loadSigningKey, rotateSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { removeTrustedKey } from '../../shared/keys/trusted-keys.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { samplePayload, sampleReceipt, sampleRecord, seededVector } from '../support/memory.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { failToStart, type ServiceProcess, startService } from '../support/service-process.ts'

let home: string
let key: SigningKey
let redis: TestRedis
let client: ReturnType<typeof connectOrFail>
let producer: Producer
let embedder: ServiceProcess
let memory: ServiceProcess

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-home-'))
  key = loadSigningKey(home)
  redis = await startRedis(redisSocketPath(home, {}))
  client = connectOrFail(redis.address)
  producer = createProducer(client)
  ;[embedder, memory] = await Promise.all([
    startService('embedder', home),
    startService('memory-store', home),
  ])
})

afterAll(async () => {
  await Promise.all([embedder?.end('SIGTERM'), memory?.end('SIGTERM')])
  await producer?.close()
  client?.disconnect()
  await redis?.stop()
  await rm(home, { recursive: true, force: true })
})

/** A job of the memory-store with its `embed` child, added under the id `id` and waited for. */
function request<J extends JobName<'memory'>>(
  name: J,
  id: string,
  payload: Payload<'memory', J>,
  texts: string[] = [],
): Promise<Result<'memory', J>> {
  const embed = flowJob('embeddings', 'embed', { texts: ['-'] }, jobIdOf('embed', name, id))
  const children = texts.length > 0 ? [{ ...embed, data: { texts } }] : []
  const flow = flowJob('memory', name, payload, jobIdOf(name, id), children)
  return ask(producer, { ...flow, queueName: 'memory', name }, { timeoutMs: 150_000 })
}

const store = (payload: StorePayload, id = payload.session_id) =>
  request('store', id, payload, [payload.evidence.symptom, payload.claim.fix_description])
const search = (id: string, query: string, error_type: string | null = null) =>
  request('search', id, { query, error_type, top_k: 5 }, [query])
const list = (id: string, session_id: string | null = null) =>
  request('list', id, { limit: 500, offset: 0, session_id })

it('stores a proved fix, finds it by its symptom, shows it, lists it and deletes it', async () => {
  const payload = samplePayload(key, 'run-life')
  const stored = await store(payload)
  expect(stored).toMatchObject({ stored: true })
  const memory_id = stored.stored ? stored.memory_id : ''

  const found = await search('life', payload.evidence.symptom, 'assertionerror')
  expect(found.matches).toMatchObject([{ memory_id, proved: true, score: expect.closeTo(1) }])
  const unlike = await search('unlike', 'connection pool exhausted after 30 seconds')
  expect(unlike).toMatchObject({ matches: [], error_type_filter: 'none', searched: 1 })

  const { record } = await request('get', 'life', { memory_id })
  expect(record).toMatchObject({ memory_id, ...payload.claim, shown: 1 })
  expect(await list('life')).toMatchObject({ records: [{ memory_id, proved: true }], total: 1 })
  expect(await request('delete', 'life', { memory_id })).toEqual({
    deleted: true,
    brought_back: [],
  })
  expect(await list('gone')).toEqual({ records: [], total: 0 })
  expect(await request('get', 'gone', { memory_id })).toMatchObject({
    record: null,
    unproved: null,
  })
})

describe('what must not be stored is refused and leaves nothing behind:', () => {
  it('a store without a receipt, as a value that says what to do', async () => {
    const payload = { ...samplePayload(key, 'run-unproved'), receipt: null }
    expect(await store(payload)).toMatchObject({
      stored: false,
      error: 'unconfirmed_outcome',
      message: expect.stringContaining('Run the tests until they pass'),
    })
    expect((await list('unproved', 'run-unproved')).total).toBe(0)
  })

  it('a second memory from one receipt', async () => {
    const first = samplePayload(key, 'run-twice')
    await store(first)
    const second = samplePayload(key, 'run-twice', { error_type: 'TypeError' })
    expect(await store(second, 'twice-again')).toMatchObject({ error: 'receipt_used' })
    expect((await list('twice', 'run-twice')).total).toBe(1)
  })

  it.each([
    ['claim.file_paths', { file_paths: 'src/a.ts' }, {}],
    ['claim.outcome', { outcome: undefined }, {}],
    ['confirmed_at', {}, { confirmed_at: '2026-11-01T10:00:00' }],
  ])('a job whose %s does not fit', async (field, claim, changes) => {
    const session = `run-bad-${field.replace('claim.', '')}`
    const payload = samplePayload(key, session)
    const flow = flowJob('memory', 'store', payload, jobIdOf('store', session))
    const data = { ...payload, ...changes, claim: { ...payload.claim, ...claim } }
    const bad = { ...flow, data, queueName: 'memory', name: 'store' } as const
    await expect(ask(producer, bad, { timeoutMs: 150_000 })).rejects.toThrow(field)
    expect((await list(session, session)).total).toBe(0)
  })

  it('anything while the embedder fails', async () => {
    const payload = samplePayload(key, 'run-no-vectors')
    const texts = Array.from({ length: 65 }, () => 'more than an embed job may hold')
    await expect(request('store', 'no-vectors', payload, texts)).rejects.toThrow(
      /the embedder failed: payload of embeddings\/embed does not fit/,
    )
    expect((await list('no-vectors', 'run-no-vectors')).total).toBe(0)
  })
})

it('loses no acknowledged store and stores none twice when it is killed', async () => {
  const sessions = Array.from({ length: 300 }, (_, i) => `run-kill-${i}`)
  const acknowledged = new Set<string>()
  const halfway = Promise.withResolvers<void>()
  const all = sessions.map(async (session) => {
    const result = await store(samplePayload(key, session))
    if (result.stored) acknowledged.add(result.memory_id)
    if (acknowledged.size === 40) halfway.resolve()
  })
  await halfway.promise
  expect(await memory.end('SIGKILL')).toBe('SIGKILL')
  const { completed = 0, ...unfinished } = await producer.queue('memory').getJobCounts()
  expect(completed).toBeGreaterThanOrEqual(40)
  expect(Object.values(unfinished).reduce((sum, count) => sum + count)).toBeGreaterThan(0)

  const promised = [...acknowledged]

  memory = await startService('memory-store', home)
  const { records } = await list('after-kill')
  const kept = new Set(records.map(({ memory_id }) => memory_id))
  expect(promised.filter((id) => !kept.has(id))).toEqual([])

  await Promise.all(all)
  const after = await list('after-all')
  const killed = after.records.filter(({ session_id }) => session_id.startsWith('run-kill-'))
  expect(killed.map(({ session_id }) => session_id).sort()).toEqual([...sessions].sort())
})

it('stores once what its process was killed behind, and answers with the same id', async () => {
  const payload = samplePayload(key, 'run-retried')
  expect(await memory.end('SIGTERM')).toBe(0)
  const dying = await startService('memory-store', home, { ASTRA_CRASH_AT: 'memory.stored' })
  const answer = store(payload)
  expect(await dying.ended).toBe('SIGKILL')
  expect(await producer.queue('memory').getJobState(jobIdOf('store', 'run-retried'))).toBe('active')
  memory = await startService('memory-store', home)
  const memory_id = memoryIdOf({ session_id: 'run-retried', ...payload.claim })
  expect(await answer).toEqual({ stored: true, memory_id })
  expect((await list('retried', 'run-retried')).total).toBe(1)
})

it('stores one of several memories from one receipt that two processes take at once', async () => {
  const second = await startService('memory-store', home)
  const claims = Array.from({ length: 12 }, (_, i) => ({ fix_description: `story ${i % 3}` }))
  const payloads = claims.map((claim) => samplePayload(key, 'run-raced', claim))
  const results = await Promise.all(payloads.map((each, i) => store(each, `raced-${i}`)))
  expect(await second.end('SIGTERM')).toBe(0)
  const ids = new Set(results.flatMap((result) => (result.stored ? result.memory_id : [])))
  expect(ids.size).toBe(1)
  expect(results.filter(({ stored }) => stored)).toHaveLength(4)
  const refused = results.filter((result) => !result.stored && result.error === 'receipt_used')
  expect(refused).toHaveLength(8)
  expect((await list('raced', 'run-raced')).total).toBe(1)
})

it('shares one database with a second process', async () => {
  const second = await startService('memory-store', home)
  const sessions = Array.from({ length: 40 }, (_, i) => `run-shared-${i}`)
  const results = await Promise.all(sessions.map((id) => store(samplePayload(key, id))))
  expect(results.every(({ stored }) => stored)).toBe(true)
  expect(await second.end('SIGTERM')).toBe(0)
  const { records } = await list('shared')
  const shared = records.filter(({ session_id }) => session_id.startsWith('run-shared-'))
  expect(shared).toHaveLength(40)
})

it('keeps its memories over an ordinary stop and start', async () => {
  const payload = samplePayload(key, 'run-restart')
  payload.receipt = sampleReceipt(key, { run_id: 'run-restart', command: 'node --test test/' })
  await store(payload)
  expect(await memory.end('SIGTERM')).toBe(0)
  memory = await startService('memory-store', home)
  expect((await list('restart', 'run-restart')).total).toBe(1)
})

it('checks all records in several jobs while it stores others, and learns of a distrusted key', async () => {
  const other = rotateSigningKey(home)
  const planted = Array.from({ length: 700 }, (_, i) =>
    sampleRecord({ session_id: `planted-${i}` }),
  )
  const vector = seededVector(1, DIMENSIONS)
  const file = join(home, 'memory', 'memory.db')
  const backend = openSqliteBackend({ file, dimensions: DIMENSIONS })
  for (const record of planted) await backend.upsert(record, { symptom: vector, fix: vector })
  await backend.close()
  const { total } = await list('before-verify')
  const [verified, stored] = await Promise.all([
    verifyMemory(producer, 3),
    store(samplePayload(key, 'run-meanwhile')),
  ])
  expect(stored.stored).toBe(true)
  expect(verified.unproved).toEqual({ no_receipt: 700 })
  expect(verified.records).toHaveLength(3)
  expect([total, total + 1]).toContain(verified.checked)

  expect(other.previous).toBe(key.keyId)
  removeTrustedKey(home, key.keyId)
  const after = await verifyMemory(producer, 0)
  expect(after).toEqual({
    checked: total + 1,
    proved: 0,
    unproved: { no_receipt: 700, untrusted_key: total + 1 - 700 },
    records: [],
  })
})

it('does not start on a database of another dimension and says why', async () => {
  const other = await mkdtemp(join(tmpdir(), 'astra-home-'))
  try {
    openDatabase(join(other, 'memory', 'memory.db'), 16).close()
    const { code, output } = await failToStart('memory-store', other)
    expect(code).toBe(1)
    expect(output).toContain(
      `memory.db holds vectors of 16 dimensions and the embedding model makes ${DIMENSIONS}`,
    )
  } finally {
    await rm(other, { recursive: true, force: true })
  }
})
