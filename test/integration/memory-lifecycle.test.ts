import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisSocketPath } from '../../shared/config.ts'
import type { JobName, Payload, Result } from '../../shared/contracts/catalog.ts'
import { jobIdOf, memoryIdOf } from '../../shared/contracts/ids.ts'
import type { StorePayload } from '../../shared/contracts/memory.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { sampleEvidence, samplePayload, sampleReceipt, sampleRecord } from '../support/memory.ts'
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

let asked = 0
function request<J extends JobName<'memory'>>(
  name: J,
  payload: Payload<'memory', J>,
  texts: string[] = [],
): Promise<Result<'memory', J>> {
  asked += 1
  const id = String(asked)
  const embed = flowJob('embeddings', 'embed', { texts: ['-'] }, jobIdOf('embed', name, id))
  const children = texts.length > 0 ? [{ ...embed, data: { texts } }] : []
  const flow = flowJob('memory', name, payload, jobIdOf(name, id), children)
  return ask(producer, { ...flow, queueName: 'memory', name }, { timeoutMs: 150_000 })
}

/** A fix of a test that only the records of that story have, confirmed on that day. */
function payloadOf(story: string, session: string, day = 1): StorePayload {
  const failing_tests = [`test/${story}.test.ts > fails`]
  const receipt = sampleReceipt(key, { run_id: session, targets: failing_tests })
  return {
    ...samplePayload(key, session),
    evidence: { ...sampleEvidence, failing_tests },
    confirmed_at: `2026-11-0${day}T10:00:00Z`,
    receipt,
  }
}

const idOf = ({ session_id, claim }: StorePayload) => memoryIdOf({ session_id, ...claim })
const store = (payload: StorePayload) =>
  request('store', payload, [payload.evidence.symptom, payload.claim.fix_description])
const search = (changes: { repository_id?: string } = {}) => {
  const query = sampleEvidence.symptom
  return request('search', { query, error_type: null, top_k: 10, ...changes }, [query])
}
const recordOf = async (payload: StorePayload): Promise<MemoryRecord> => {
  const { record } = await request('get', { memory_id: idOf(payload) })
  if (!record) throw new Error(`no record of ${payload.session_id}`)
  return record
}
const sessionsFound = async () =>
  (await search()).matches.map(({ session_id }) => session_id).sort()

it('answers with the new id, and is found by it alone, when a near-duplicate is stored', async () => {
  const [first, second] = [payloadOf('merge', 'run-m1', 1), payloadOf('merge', 'run-m2', 2)]
  await store(first)
  await search()
  expect(await store(second)).toEqual({ stored: true, memory_id: idOf(second) })
  expect(await store(second)).toEqual({ stored: true, memory_id: idOf(second) })
  expect(await sessionsFound()).toEqual(['run-m2'])
  expect(await recordOf(second)).toMatchObject({ merged: [idOf(first)], shown: 2 })
  expect(await recordOf(first)).toMatchObject({ superseded_by: idOf(second), shown: 1 })
  await request('revoke', { which: { session_id: 'run-m1' } })
  await request('revoke', { which: { session_id: 'run-m2' } })
})

it.each(['memory.upserted', 'memory.superseded', 'memory.stored'])(
  'merges once, with the counters taken over once, when it is killed at %s',
  async (point) => {
    const name = point.replace('.', '-')
    const [first, second] = [payloadOf(name, `${name}-1`, 1), payloadOf(name, `${name}-2`, 2)]
    await store(first)
    await request('note-outcome', {
      run_id: `run-${name}`,
      memory_ids: [idOf(first)],
      outcome: 'confirmed',
    })
    expect(await memory.end('SIGTERM')).toBe(0)
    const dying = await startService('memory-store', home, { ASTRA_CRASH_AT: point })
    const answer = store(second)
    expect(await dying.ended).toBe('SIGKILL')
    memory = await startService('memory-store', home)
    expect(await answer).toEqual({ stored: true, memory_id: idOf(second) })
    expect(await recordOf(second)).toMatchObject({
      merged: [idOf(first)],
      confirmed: 1,
      superseded_by: null,
    })
    expect((await recordOf(first)).superseded_by).toBe(idOf(second))
    await request('revoke', { which: { session_id: `${name}-2` } })
  },
)

it('merges what an import brought, when it is killed between the record and its merging', async () => {
  const [first, second] = [payloadOf('moved', 'run-v1', 1), payloadOf('moved', 'run-v2', 2)]
  await store(first)
  const { claim, evidence, session_id, confirmed_at: timestamp, receipt } = second
  const record = sampleRecord({ ...claim, ...evidence, session_id, timestamp, receipt, shown: 5 })
  const crash = { ASTRA_CRASH_AT: 'memory.upserted' }
  // Each point kills once in a home, and this one has.
  await rm(join(home, 'run', 'crashed', 'memory.upserted'))
  expect(await memory.end('SIGTERM')).toBe(0)
  const dying = await startService('memory-store', home, crash)
  const answer = request('import', { records: [record] }, [record.symptom, record.fix_description])
  expect(await dying.ended).toBe('SIGKILL')
  memory = await startService('memory-store', home)
  expect(await answer).toEqual({ outcomes: [{ status: 'present' }] })
  expect(await recordOf(second)).toMatchObject({ shown: 5, merged: [idOf(first)] })
  expect((await recordOf(first)).superseded_by).toBe(idOf(second))
  await request('revoke', { which: { session_id: 'run-v2' } })
})

it('ends with one live record and no circle when two processes store near-duplicates at once', async () => {
  const second = await startService('memory-store', home)
  const stories = Array.from({ length: 15 }, (_, i) => `raced-${i}`)
  const raced = stories.map((story, i) =>
    [0, 1, 2].map((n) => payloadOf(story, `${story}-${n}`, 1 + ((n + i) % 3))),
  )
  const results = await Promise.all(raced.flat().map(store))
  expect(results.every(({ stored }) => stored)).toBe(true)
  expect(await second.end('SIGTERM')).toBe(0)
  for (const payloads of raced) {
    const records = await Promise.all(payloads.map(recordOf))
    const live = records.filter(({ superseded_by }) => superseded_by === null)
    expect(live.map(({ timestamp }) => timestamp)).toEqual(['2026-11-03T10:00:00Z'])
  }
  await Promise.all(
    raced.flat().map(({ session_id }) => request('revoke', { which: { session_id } })),
  )
})

describe('the outcome of a run', () => {
  it('counts once for each record, when its process is killed and when it is said again', async () => {
    const payload = payloadOf('outcome', 'run-outcome')
    await store(payload)
    const other = '00000000-0000-4000-8000-000000000000'
    const outcome = (run_id: string, said: 'confirmed' | 'unconfirmed') =>
      request('note-outcome', { run_id, memory_ids: [idOf(payload), other], outcome: said })
    expect(await memory.end('SIGTERM')).toBe(0)
    const crash = { ASTRA_CRASH_AT: 'memory.outcome-counted' }
    const dying = await startService('memory-store', home, crash)
    const answer = outcome('run-a', 'confirmed')
    expect(await dying.ended).toBe('SIGKILL')
    memory = await startService('memory-store', home)
    expect(await answer).toEqual({})
    await outcome('run-a', 'confirmed')
    await outcome('run-b', 'unconfirmed')
    expect(await recordOf(payload)).toMatchObject({ confirmed: 1, unconfirmed: 1 })
    await request('revoke', { which: { session_id: 'run-outcome' } })
  })
})

describe('revoke and restore', () => {
  const [one, other] = [
    () => payloadOf('revoke-1', 'run-r1'),
    () => payloadOf('revoke-2', 'run-r2'),
  ]

  it('take a record, a session or a repository out of searches and back, as often as they are said', async () => {
    for (const payload of [one(), other()]) await store(payload)
    expect(await sessionsFound()).toEqual(['run-r1', 'run-r2'])
    const memory_id = idOf(one())
    for (const [which, found, changed, left] of [
      [{ memory_id }, 1, 1, ['run-r2']],
      [{ session_id: 'run-r1' }, 1, 1, ['run-r2']],
    ] as const) {
      expect(await request('revoke', { which })).toEqual({ found, changed, stands_for: [] })
      expect(await request('revoke', { which })).toEqual({ found, changed: 0, stands_for: [] })
      expect(await sessionsFound()).toEqual(left)
      expect((await recordOf(one())).revoked_at).not.toBeNull()
      expect(await request('restore', { which })).toEqual({ found, changed, superseded: [] })
      expect(await request('restore', { which })).toEqual({ found, changed: 0, superseded: [] })
      expect(await sessionsFound()).toEqual(['run-r1', 'run-r2'])
    }
    const nobody = { which: { session_id: 'run-nobody' } }
    expect(await request('revoke', nobody)).toEqual({ found: 0, changed: 0, stands_for: [] })
  })

  it('leave out what another record stands for, and say so', async () => {
    const [first, second] = [payloadOf('stood', 'run-s1', 1), payloadOf('stood', 'run-s2', 2)]
    for (const payload of [first, second]) await store(payload)
    const [old, by] = [{ memory_id: idOf(first) }, { memory_id: idOf(second) }]
    expect(await request('revoke', { which: by })).toMatchObject({ stands_for: [idOf(first)] })
    expect(await sessionsFound()).not.toContain('run-s1')
    expect(await request('revoke', { which: old })).toMatchObject({ changed: 1 })
    expect(await request('restore', { which: old })).toMatchObject({ superseded: [idOf(first)] })
    expect(await sessionsFound()).not.toContain('run-s1')
    expect(await request('restore', { which: by })).toMatchObject({ changed: 1, superseded: [] })
    expect(await sessionsFound()).toContain('run-s2')
  })

  it('a repository: all of its records at once', async () => {
    const which = { repository_id: 'repository-1' }
    const before = await sessionsFound()
    const { found, changed } = await request('revoke', { which })
    expect(changed).toBeGreaterThanOrEqual(before.length)
    expect(found).toBeGreaterThan(changed)
    expect(await request('revoke', { which })).toMatchObject({ found, changed: 0 })
    expect(await sessionsFound()).toEqual([])
    const { records } = await request('list', { limit: 500, offset: 0, session_id: 'run-s2' })
    expect(records).toMatchObject([{ revoked_at: expect.any(String), superseded_by: null }])
  })
})

it('lets a person name the record that stands for another, and take that back', async () => {
  const [old, by] = [payloadOf('old', 'run-p1'), payloadOf('new', 'run-p2')]
  for (const payload of [old, by]) await store(payload)
  const supersede = (memory_id: string, successor: string | null) =>
    request('supersede', { memory_id, by: successor })
  expect(await supersede(idOf(old), idOf(by))).toEqual({ done: true, changed: true })
  expect(await supersede(idOf(old), idOf(by))).toEqual({ done: true, changed: false })
  expect(await sessionsFound()).toEqual(['run-p2'])
  const nobody = '00000000-0000-4000-8000-000000000000'
  for (const [id, successor, reason] of [
    [idOf(by), idOf(old), 'circle'],
    [idOf(by), idOf(by), 'circle'],
    [nobody, idOf(by), 'no_such_record'],
    [idOf(by), nobody, 'no_such_successor'],
  ] as const) {
    expect(await supersede(id, successor)).toMatchObject({ done: false, reason })
  }
  expect(await supersede(idOf(old), null)).toEqual({ done: true, changed: true })
  await request('revoke', { which: { session_id: 'run-p2' } })
  expect(await supersede(idOf(old), idOf(by))).toMatchObject({ reason: 'successor_not_live' })
  expect(await sessionsFound()).toEqual(['run-p1'])
})

describe('a memory that does not share everything', () => {
  async function withMemory(env: Record<string, string>, use: () => Promise<void>): Promise<void> {
    expect(await memory.end('SIGTERM')).toBe(0)
    memory = await startService('memory-store', home, env)
    try {
      await use()
    } finally {
      expect(await memory.end('SIGTERM')).toBe(0)
      memory = await startService('memory-store', home)
    }
  }

  it('answers a repository from its own records, and whoever names none not at all', async () => {
    await withMemory({ ASTRA_MEMORY_SHARING: 'repository' }, async () => {
      const own = await search({ repository_id: 'repository-1' })
      expect(own).toMatchObject({ matches: [{ session_id: 'run-p1' }], withheld: null })
      const foreign = await search({ repository_id: 'repository-2' })
      expect(foreign).toMatchObject({ matches: [], searched: 0, withheld: null })
      const nobody = await search()
      expect(nobody).toMatchObject({ matches: [], withheld: expect.stringContaining('repository') })
    })
  })

  it('answers from the records of its group alone, which carry its name', async () => {
    const team = { ASTRA_MEMORY_SHARING: 'group', ASTRA_MEMORY_GROUP: 'team-a' }
    await withMemory(team, async () => {
      const payload = payloadOf('team', 'run-team')
      await store(payload)
      expect((await recordOf(payload)).group).toBe('team-a')
      expect(await sessionsFound()).toEqual(['run-team'])
    })
    await withMemory({ ...team, ASTRA_MEMORY_GROUP: 'team-b' }, async () => {
      expect(await search()).toMatchObject({ matches: [], searched: 0 })
    })
  })

  it('does not start where it would share with a group that nobody named', async () => {
    const { code, output } = await failToStart('memory-store', home, {
      ASTRA_MEMORY_SHARING: 'group',
    })
    expect([code, output]).toEqual([1, expect.stringContaining('ASTRA_MEMORY_GROUP')])
  })

  it('does not answer what has expired, and says so where it is listed and shown', async () => {
    await withMemory({ ASTRA_MEMORY_DAYS: '1' }, async () => {
      const fresh = { ...payloadOf('fresh', 'run-fresh'), confirmed_at: new Date().toISOString() }
      await store(fresh)
      expect(await sessionsFound()).toEqual(['run-fresh'])
      const { records } = await request('list', { limit: 500, offset: 0, session_id: 'run-p1' })
      expect(records).toMatchObject([{ expired: true }])
      expect(await request('get', { memory_id: idOf(fresh) })).toMatchObject({ expired: false })
    })
  })
})
