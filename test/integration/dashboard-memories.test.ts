import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnrecoverableError, Worker } from 'bullmq'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { redisSocketPath } from '../../shared/config.ts'
import { memoryIdOf } from '../../shared/contracts/ids.ts'
import type { StorePayload } from '../../shared/contracts/memory.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { askMemory } from '../../shared/queue/ask-memory.ts'
import { KEY_PREFIX } from '../../shared/queue/connection.ts'
import { startDashboardApp, type TestDashboard } from '../support/dashboard.ts'
import { fakeSecrets } from '../support/fake-secrets.ts'
import {
  sampleEvidence,
  samplePayload,
  sampleReceipt,
  sampleRecord,
  seededVector,
} from '../support/memory.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'

const ATTACKS = {
  script: '<script>alert(1)</script>',
  image: '"><img src=x onerror=alert(1)>',
  ansi: '\u001b[31mred\u001b[0m\u202e\u0007',
}
const hostile = Object.values(ATTACKS).join(' ')

let home: string
let key: SigningKey
let redis: TestRedis
let dashboard: TestDashboard
let embedder: ServiceProcess
let memory: ServiceProcess
let cookie: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-home-'))
  key = loadSigningKey(home)
  await plantRecords()
  redis = await startRedis(redisSocketPath(home, {}))
  ;[embedder, memory] = await Promise.all([
    startService('embedder', home),
    startService('memory-store', home, { ASTRA_MEMORY_DAYS: '3650' }),
  ])
  dashboard = await startDashboardApp(redis.address, home)
  cookie = (await dashboard.logIn()).cookie
})

afterAll(async () => {
  await dashboard?.stop()
  await Promise.all([embedder?.end('SIGTERM'), memory?.end('SIGTERM')])
  await redis?.stop()
  await rm(home, { recursive: true, force: true })
})

const planted = (changes: Partial<MemoryRecord>) => ({ ...sampleRecord(changes), ...changes })
const successor = planted({ session_id: 'run-new', error_type: 'KeyError', shown: 7, confirmed: 4 })
const replaced = planted({
  session_id: 'run-replaced',
  error_type: 'KeyError',
  superseded_by: successor.memory_id,
  timestamp: '2026-10-30T00:00:00Z',
})
const merging = { ...successor, merged: [replaced.memory_id], unconfirmed: 2 }
const attacker = planted({
  session_id: 'run-hostile',
  repository_id: 'repository-of-elsewhere',
  error_type: hostile,
  fix_description: hostile,
  file_paths: [hostile],
  symptom: hostile,
  symptom_raw: `${hostile} ${'x'.repeat(15_000)}`,
  diff: `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-${hostile}\n+${hostile}\n`,
  failing_tests: [hostile],
  scrubbed: [{ rule: hostile, count: 2 }],
  model: '<b>model</b>',
})

/** As they are in a store that has been used for long; nothing proves them. */
async function plantRecords(): Promise<void> {
  const folder = join(home, 'memory')
  await mkdir(folder, { mode: 0o700 })
  const backend = openSqliteBackend({ file: join(folder, 'memory.db'), dimensions: DIMENSIONS })
  const old = Array.from({ length: 30 }, (_, i) =>
    planted({
      session_id: `run-old-${i}`,
      error_type: 'OSError',
      fix_description: `Close file ${i}`,
      timestamp: new Date(Date.UTC(2026, 8, 1, 0, i)).toISOString(),
    }),
  )
  const records = [
    ...old,
    replaced,
    merging,
    attacker,
    planted({ session_id: 'run-ancient', timestamp: '2001-01-01T00:00:00Z' }),
  ]
  for (const [i, record] of records.entries()) {
    const vectors = { symptom: seededVector(i, DIMENSIONS), fix: seededVector(-i, DIMENSIONS) }
    await backend.upsert(record, vectors)
  }
  await backend.close()
}

/** A fix that a run has proved, stored as runs store it. */
async function store(session: string, changes: Partial<StorePayload['claim']> = {}, symptom = '') {
  const payload = samplePayload(key, session, changes)
  const failing_tests = [`test/${session}.test.ts > fails`]
  const evidence = {
    ...sampleEvidence,
    failing_tests,
    ...(symptom !== '' && { symptom, symptom_raw: symptom }),
  }
  const receipt = sampleReceipt(key, { run_id: session, targets: failing_tests })
  const texts = [evidence.symptom, payload.claim.fix_description]
  const job = { ...payload, evidence, receipt }
  const stored = await askMemory(dashboard.deps.producer, 'store', job, { texts })
  expect(stored).toMatchObject({ stored: true })
  return memoryIdOf({ session_id: session, ...payload.claim })
}

async function get(path: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(dashboard.url + path, { headers: { cookie }, redirect: 'manual' })
  return { status: answer.status, text: await answer.text() }
}

async function post(
  path: string,
  fields: Record<string, string>,
  from = dashboard.url,
): Promise<{ status: number; text: string; location: string | null }> {
  const body = new URLSearchParams(fields)
  const headers = { cookie, origin: from }
  const answer = await fetch(dashboard.url + path, {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
  })
  const location = answer.headers.get('location')
  return { status: answer.status, text: await answer.text(), location }
}

async function csrf(): Promise<string> {
  const { text } = await get('/memories/search')
  return /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
}

const search = async (fields: Record<string, string>) =>
  (await post('/memories/search', { csrf: await csrf(), ...fields })).text
/** The memories of these sessions. */
const ids = (...sessions: string[]) =>
  Promise.all(
    sessions.map(async (session) => {
      const { text } = await get(`/memories?session=${session}`)
      return /<a href="\/memories\/([0-9a-f-]{36})"/.exec(text)?.[1] ?? ''
    }),
  )
const fixesOf = (text: string) =>
  [...text.matchAll(/<th scope="row" class="wide"><a href="[^"]*">([^<]*)</g)].map(([, fix]) => fix)
/** What stands between the tags, on one line. */
const words = (text: string) =>
  text
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replace(/\s+/g, ' ')

describe('the list', () => {
  it('shows records newest first, in pages, with their counters, state and proof', async () => {
    const first = await get('/memories')
    expect(first.status).toBe(200)
    expect(fixesOf(first.text)).toHaveLength(25)
    expect(words(first.text)).toContain('34 in all, page 1 of 2')
    const second = fixesOf((await get('/memories?page=2')).text)
    expect(second.slice(0, 2)).toEqual(['Close file 7', 'Close file 6'])
    expect(second).toHaveLength(9)
    const one = await get('/memories?session=run-new')
    expect(words(one.text)).toMatch(
      /KeyError live unproved 7 4 2 [\d-]+ [\d:]+ run-new repository-1/,
    )
    expect((await get('/memories?page=9')).text).toContain('There are only 34')
  })

  it.each([
    ['error_type=oserror&state=live', 30],
    ['repository=repository-of-elsewhere', 1],
    ['state=superseded', 1],
    ['state=expired', 1],
    ['state=revoked', 0],
    ['state=live&error_type=KeyError&session=run-new', 1],
  ])('filters by %s', async (query, total) => {
    const { text } = await get(`/memories?${query}`)
    expect(words(text)).toContain(`${total} in all`)
    expect(fixesOf(text)).toHaveLength(Math.min(total, 25))
    if (total === 0) expect(text).toContain('No memory fits this filter')
  })

  it('finds what nothing proves, and says why', async () => {
    const { text } = await get('/memories?state=unproved&session=run-new')
    expect(words(text)).toContain('1 of the 1 records')
    expect(words(text)).toMatch(/run-new no receipt there is no receipt/)
  })

  it('refuses a filter that it does not know, by name', async () => {
    const { status, text } = await get('/memories?state=%3Cscript%3E')
    expect(status).toBe(400)
    expect(text).toContain('This filter cannot be used: state:')
    expect(text).not.toContain('<script>')
  })
})

describe('a search', () => {
  it('tells the same failure with what speaks for it, and counts nothing as shown', async () => {
    const id = await store('run-search')
    const text = await search({ q: sampleEvidence.symptom_raw, error_type: 'assertionerror' })
    expect(words(text)).toMatch(/Answer: 1 same/)
    expect(text).toContain(`href="/memories/${id}"`)
    expect(words(text)).toContain('Speaks for it same error type: "AssertionError"')
    expect(words(text)).toMatch(/Right fix, probability [01]\.\d\d Score \(cosine\) [01]\.\d{4}/)
    const counted = words((await get('/memories?session=run-search')).text)
    expect(counted).toContain('live proved 0 0 0')
  })

  it('answers none where nothing fits, and says of the nearest why', async () => {
    const text = words(await search({ q: 'connection pool exhausted after 30 seconds' }))
    expect(text).toContain('Answer: none')
    expect(text).toMatch(/has a probability of 0\.\d\d, and an answer needs 0\.\d\d/)
    expect(text).toMatch(/Speaks against it not in the record: .*exhausted/)
  })

  it('takes a text from the address as well, and says when a type was no help', async () => {
    const query = new URLSearchParams({
      q: sampleEvidence.symptom,
      error_type: 'ZeroDivisionError',
    })
    const { text } = await get(`/memories/search?${query}`)
    expect(text).toContain('Nothing of this error type is an answer')
    expect(words(text)).toContain('other error type: "AssertionError", not "ZeroDivisionError"')
  })

  it('takes a long text with line ends of a form, and refuses a blank or too long one', async () => {
    const line = 'expected true, got false\r\n'
    const long = line.repeat(19_999 / (line.length - 1))
    expect(long.length).toBeGreaterThan(20_000)
    expect(words(await search({ q: long }))).toContain('Answer: ')
    expect(await search({ q: ' \n ' })).toContain('must have 1 to 20,000 characters')
    expect(await search({ q: 'x'.repeat(20_001) })).toContain('Nothing was searched: q: Too big')
    expect(await search({ q: 'x', top_k: '11' })).toContain('Nothing was searched: top_k: ')
  })

  it('takes secrets out of the text before anybody else sees it', async () => {
    await search({ q: `cannot charge with ${fakeSecrets.stripe}` })
    const jobs = await dashboard.deps.producer.queue('memory').getJobs(['completed'], 0, 0)
    expect(jobs[0]?.data).toMatchObject({ query: expect.stringContaining('cannot charge with') })
    const embeds = await dashboard.deps.producer.queue('embeddings').getJobs(['completed'], 0, 0)
    expect(JSON.stringify([jobs, embeds].flat().map((job) => job.data))).not.toContain(
      fakeSecrets.stripe,
    )
  })
})

describe('a record', () => {
  it('shows its evidence, its receipt and the four runs that prove it', async () => {
    const id = await store('run-whole', { fix_description: 'Split at commas alone' })
    const { status, text } = await get(`/memories/${id}`)
    expect(status).toBe(200)
    const plain = words(text)
    expect(plain).toContain('live proved AssertionError')
    expect(plain).toContain('Split at commas alone')
    expect(plain).toContain('not ok - takes a list with spaces expected true, got false')
    expect(plain).toContain('a trusted key signed a receipt of exactly this run')
    expect(plain).toMatch(/All tests, without the patch 2 1 0 1 All tests, with the patch 3 0 0 0/)
    expect(plain).toContain('1 that failed before and pass after test/run-whole.test.ts &gt; fails')
    expect(plain).toContain(key.keyId)
    expect(text).toContain('<span class="diff-')
  })

  it('names what it stands for and what stands for it', async () => {
    const { text } = await get(`/memories/${successor.memory_id}`)
    expect(text).toContain(`href="/memories/${replaced.memory_id}"`)
    expect(words(text)).toContain('merged: a near-duplicate')
    const old = words((await get(`/memories/${replaced.memory_id}`)).text)
    expect(old).toContain(`superseded by ${successor.memory_id}`)
    expect(old).toContain('unproved there is no receipt ( no_receipt )')
  })

  it('shows what a model or a test printed as quoted text, on every page', async () => {
    const query = new URLSearchParams({ q: hostile, error_type: hostile.slice(0, 90) })
    for (const path of [
      `/memories/${attacker.memory_id}`,
      '/memories?session=run-hostile',
      `/memories?state=unproved&session=run-hostile`,
      `/memories/search?${query}`,
      `/memories?${new URLSearchParams({ session: hostile })}`,
      `/memories/${attacker.memory_id}?notice=${encodeURIComponent(ATTACKS.script)}`,
    ]) {
      const { status, text } = await get(path)
      expect(status, path).toBe(200)
      expect(text, path).not.toContain('<script>')
      expect(text, path).not.toContain('<img')
      expect(text, path).not.toContain('<b>')
      // Nothing of a text may end an attribute.
      expect(text, path).not.toMatch(/="[^"]*"><img/)
    }
    const { text } = await get(`/memories/${attacker.memory_id}`)
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    for (const steering of ['\u001b', '\u0007', '\u202e']) expect(text).not.toContain(steering)
  })

  it.each(['00000000-0000-4000-8000-000000000000', 'no-id', '%3Cscript%3E'])(
    'is not found by the name %s',
    async (id) => {
      const { status, text } = await get(`/memories/${id}`)
      expect(status).toBe(404)
      expect(text).toContain('There is no memory')
      expect(text).not.toContain('<script>')
    },
  )
})

describe('revoke and restore', () => {
  it('take a record out of every search and back, and say so', async () => {
    const symptom = 'KeyError: parcel_weight is missing in manifest of carrier'
    const claim = { error_type: 'KeyError', fix_description: 'Ask for the weight of each parcel' }
    const id = await store('run-revoked', claim, symptom)
    const form = { csrf: await csrf(), confirm: 'yes' }
    const isFound = async () =>
      (await search({ q: symptom })).includes(`<h3><a href="/memories/${id}"`)
    expect(await isFound()).toBe(true)
    const revoked = await post(`/memories/${id}/revoke`, form)
    expect(revoked).toMatchObject({ status: 303, location: `/memories/${id}?notice=revoked` })
    expect((await get(revoked.location ?? '')).text).toContain('Revoked: no search answers')
    expect(await isFound()).toBe(false)
    expect(words((await get('/memories?state=revoked')).text)).toContain('1 in all')
    expect((await post(`/memories/${id}/revoke`, form)).location).toContain('notice=was-revoked')
    const restored = await post(`/memories/${id}/restore`, form)
    expect((await get(restored.location ?? '')).text).toContain('Restored: searches may answer')
    expect(await isFound()).toBe(true)
    expect((await post(`/memories/${id}/restore`, form)).location).toContain('notice=was-live')
  })

  it('say that another record still stands for one that is restored', async () => {
    const form = { csrf: await csrf(), confirm: 'yes' }
    await post(`/memories/${replaced.memory_id}/revoke`, form)
    const { location } = await post(`/memories/${replaced.memory_id}/restore`, form)
    expect((await get(location ?? '')).text).toContain('another one stands for it')
  })

  it('change nothing without the confirmation, the form or the page they belong to', async () => {
    const path = `/memories/${successor.memory_id}/revoke`
    const token = await csrf()
    const refused = await post(path, { csrf: token })
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('without its confirmation'),
    ])
    expect((await post(path, { confirm: 'yes' })).status).toBe(403)
    expect((await post(path, { csrf: token, confirm: 'yes' }, 'http://evil.example')).status).toBe(
      403,
    )
    expect((await get(path)).status).toBe(404)
    expect(words((await get('/memories?session=run-new')).text)).toContain('KeyError live')
    const unknown = '/memories/00000000-0000-4000-8000-000000000000/restore'
    expect((await post(unknown, { csrf: token, confirm: 'yes' })).status).toBe(404)
  })
})

describe('while the memory-store is away', () => {
  const revoke = async (id: string) =>
    post(`/memories/${id}/revoke`, { csrf: await csrf(), confirm: 'yes' })
  const withdraw = async (change: string) => post(`${change}/withdraw`, { csrf: await csrf() })

  it('a list says so, and a revocation waits: it is done later, unless it was taken back', async () => {
    const [first = '', second = ''] = await ids('run-old-1', 'run-old-2')
    expect(await memory.end('SIGTERM')).toBe(0)
    const [list, done, undone] = await Promise.all([
      get('/memories'),
      revoke(first),
      revoke(second),
    ])
    expect([list.status, list.text]).toEqual([503, expect.stringContaining('Memory unavailable')])
    expect(words(list.text)).toContain('no answer to memory/list within 8 s; is the service')
    const [waits, taken] = [done.location ?? '', undone.location ?? '']
    expect(waits).toMatch(new RegExp(`^/memories/${first}/changes/revoke-`))
    const told = words((await get(waits)).text)
    expect(told).toContain('waits in the queue: the memory-store does not answer')
    expect(told).toContain('then no search will answer with this memory')
    expect(words((await withdraw(taken)).text)).toContain('Nothing was changed, and nothing waits')
    expect((await get(taken)).status).toBe(404)

    memory = await startService('memory-store', home)
    expect((await get('/memories')).status).toBe(200)
    const after = await fetch(dashboard.url + waits, { headers: { cookie }, redirect: 'manual' })
    expect(after.headers.get('location')).toBe(`/memories/${first}?notice=revoked`)
    expect(words((await get(`/memories/${first}`)).text)).toContain('Restore Yes, searches may')
    expect(words((await get('/memories?session=run-old-2')).text)).toContain('OSError live')
  })

  it('what was done cannot be taken back any more, and the record offers to restore it', async () => {
    const [id = ''] = await ids('run-old-3')
    expect(await memory.end('SIGTERM')).toBe(0)
    const { location } = await revoke(id)
    memory = await startService('memory-store', home)
    expect((await get('/memories')).status).toBe(200)
    expect(await withdraw(location ?? '')).toMatchObject({
      status: 303,
      location: `/memories/${id}?notice=revoked`,
    })
    const form = { csrf: await csrf(), confirm: 'yes' }
    expect((await post(`/memories/${id}/restore`, form)).location).toContain('notice=restored')
  })

  it('a change that fails says why, and that nothing was changed', async () => {
    const [id = ''] = await ids('run-old-6')
    expect(await memory.end('SIGTERM')).toBe(0)
    const { location } = await revoke(id)
    const work = () => Promise.reject(new UnrecoverableError('the disk is full'))
    const worker = new Worker('memory', work, { connection: redis.address, prefix: KEY_PREFIX })
    await once(worker, 'failed')
    await worker.close()
    const { status, text } = await get(location ?? '')
    expect([status, words(text)]).toEqual([503, expect.stringContaining('Nothing was changed')])
    expect(text).toContain('the disk is full')
    memory = await startService('memory-store', home)
  })

  it('a change belongs to one record, and other jobs are none', async () => {
    const [id = '', other = ''] = await ids('run-old-4', 'run-old-5')
    expect(await memory.end('SIGTERM')).toBe(0)
    const { location } = await revoke(id)
    const foreign = (location ?? '').replace(id, other)
    expect((await get(foreign)).status).toBe(404)
    expect((await withdraw(foreign)).status).toBe(404)
    expect(words((await get(location ?? '')).text)).toContain('waits in the queue')
    const [list] = await dashboard.deps.producer.queue('memory').getJobs(['completed'], 0, 0)
    expect((await get(`/memories/${id}/changes/${list?.id}`)).status).toBe(404)
    expect((await post(`${location}/withdraw`, { csrf: 'x' })).status).toBe(403)
    expect((await withdraw(location ?? '')).status).toBe(200)
    memory = await startService('memory-store', home)
  })
})

it('says why nothing is answered where the memory shares nothing with who asks', async () => {
  await memory.end('SIGTERM')
  memory = await startService('memory-store', home, { ASTRA_MEMORY_SHARING: 'repository' })
  const unnamed = words(await search({ q: sampleEvidence.symptom }))
  expect(unnamed).toContain('Answer: none')
  expect(unnamed).toContain('the search names no repository')
  const own = words(await search({ q: sampleEvidence.symptom, repository: 'repository-1' }))
  expect(own).toMatch(/Answer: \d (same|similar)/)
})
