import { createPublicKey } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import type { MemoryPolicy } from '../../services/memory-store/lifecycle/policy.ts'
import { searchMemory } from '../../services/memory-store/search-memory.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { storeMemory } from '../../services/memory-store/store-memory.ts'
import type { Payload } from '../../shared/contracts/catalog.ts'
import { memoryIdOf } from '../../shared/contracts/ids.ts'
import { type StorePayload, storePayloadSchema } from '../../shared/contracts/memory.ts'
import { DIMENSIONS, encodeVector } from '../../shared/contracts/vector.ts'
import { loadSigningKey, rotateSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { removeTrustedKey, trustKey } from '../../shared/keys/trusted-keys.ts'
import type { ChildOutcome, JobContext } from '../../shared/queue/consumer.ts'
import { createScrubber, type Scrubber } from '../../shared/scrub/scrubber.ts'
import { sampleEvidence, samplePayload, sampleReceipt, shareAll } from '../support/memory.ts'

let home: string
let key: SigningKey
let backend: MemoryBackend
let deps: { backend: MemoryBackend; home: string; policy: MemoryPolicy; scrub: Scrubber }

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-memory-'))
  key = loadSigningKey(home)
  backend = openSqliteBackend({ file: join(home, 'memory.db'), dimensions: DIMENSIONS })
  deps = { backend, home, policy: shareAll, scrub: createScrubber([]) }
})

afterEach(async () => {
  await backend.close()
  await rm(home, { recursive: true, force: true })
})

/** A unit vector at `cosine` to the first axis. */
function at(cosine: number, axis = 1): Float32Array {
  const vector = new Float32Array(DIMENSIONS)
  vector[0] = cosine
  vector[axis] = Math.sqrt(1 - cosine * cosine)
  return vector
}

type Context = Pick<JobContext, 'children' | 'log'>

/** The context of a job whose children ended so. */
function context(...outcomes: ChildOutcome[]): Context {
  return { children: async () => outcomes, log: pino({ level: 'silent' }) }
}

function embedded(...vectors: Float32Array[]): Context {
  return context({ ok: true, value: { vectors: vectors.map(encodeVector) } })
}

const store = (payload: StorePayload, job = embedded(at(1), at(0))) =>
  storeMemory(payload, job, deps)
const search = (changes: Partial<Payload<'memory', 'search'>> = {}, vector = at(1)) => {
  const question = { query: sampleEvidence.symptom, error_type: null, top_k: 10, ...changes }
  return searchMemory(question, embedded(vector), deps)
}
const total = async () => (await backend.list({ limit: 1, offset: 0, session_id: null })).total

describe('store', () => {
  it('keeps a proved fix under the id that its contents give', async () => {
    const payload = samplePayload(key, 'run-1')
    const memory_id = memoryIdOf({ session_id: 'run-1', ...payload.claim })
    expect(await store(payload)).toEqual({ stored: true, memory_id })
    expect(await backend.get(memory_id)).toEqual({
      memory_id,
      ...payload.claim,
      ...payload.evidence,
      timestamp: payload.confirmed_at,
      session_id: 'run-1',
      receipt: payload.receipt,
      group: null,
      merged: [],
      scrubbed: [],
      shown: 0,
      confirmed: 0,
      unconfirmed: 0,
      superseded_by: null,
      revoked_at: null,
    })
  })

  it('updates instead of adding when it is repeated', async () => {
    const first = await store(samplePayload(key, 'run-1'))
    await search()
    expect(await store(samplePayload(key, 'run-1'))).toEqual(first)
    expect(await total()).toBe(1)
    const [match] = (await search()).matches
    expect((await backend.get(match?.memory_id ?? ''))?.shown).toBe(2)
  })

  it('is done once by repeated jobs at the same time', async () => {
    const payload = samplePayload(key, 'run-1')
    const results = await Promise.all(Array.from({ length: 8 }, () => store(payload)))
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1)
    expect(results[0]).toMatchObject({ stored: true })
    expect(await total()).toBe(1)
  })

  it('takes the receipt of an earlier snapshot, which names no repository', async () => {
    const receipt = sampleReceipt(key, { run_id: 'run-1', repository_id: null })
    expect(await store({ ...samplePayload(key, 'run-1'), receipt })).toMatchObject({ stored: true })
  })

  it('takes failing tests in any order', async () => {
    const [a, b] = ['test/a.ts > a', 'test/b.ts > b']
    const payload = samplePayload(key, 'run-1')
    payload.receipt = sampleReceipt(key, { run_id: 'run-1', targets: [a, b] })
    payload.evidence = { ...payload.evidence, failing_tests: [b, a] }
    expect(await store(payload)).toMatchObject({ stored: true })
  })

  it('refuses a second memory from one receipt', async () => {
    await store(samplePayload(key, 'run-1'))
    const again = samplePayload(key, 'run-1', { fix_description: 'Another story of the same fix' })
    expect(await store(again)).toMatchObject({ stored: false, error: 'receipt_used' })
    expect(await total()).toBe(1)
  })

  it('lets a record without a symptom be found by its fix alone', async () => {
    const payload = samplePayload(key, 'run-1')
    await store({ ...payload, evidence: { ...payload.evidence, symptom: ' ' } })
    const query = payload.claim.fix_description
    expect((await search({ query: 'pool exhausted' }, at(0, 2))).matches).toEqual([])
    expect((await search({ query }, at(0))).matches).toHaveLength(1)
  })

  describe('refuses, with nothing stored,', () => {
    const failing =
      (...failing_tests: string[]) =>
      (p: StorePayload) => ({ ...p, evidence: { ...p.evidence, failing_tests } })
    const refusals: [string, RegExp, (payload: StorePayload) => StorePayload][] = [
      ['no receipt', /there is no receipt/, (p) => ({ ...p, receipt: null })],
      [
        'an outcome that the receipt does not confirm',
        /the receipt confirms "node passed with exit code 0", not "pytest passed with exit code 0"/,
        (p) => ({ ...p, claim: { ...p.claim, outcome: 'pytest passed with exit code 0' } }),
      ],
      [
        'another runner than the one whose results are proved',
        /the receipt is of node, not of jest/,
        (p) => ({ ...p, evidence: { ...p.evidence, framework: 'jest' } }),
      ],
      [
        "another run's receipt",
        /the receipt is of run run-2, not of run-1/,
        (p) => ({ ...p, receipt: sampleReceipt(key, { run_id: 'run-2' }) }),
      ],
      [
        "another repository's receipt",
        /the receipt is of repository repository-2, not of repository-1/,
        (p) => ({
          ...p,
          receipt: sampleReceipt(key, { run_id: 'run-1', repository_id: 'repository-2' }),
        }),
      ],
      [
        "a repository's receipt without a repository",
        /the receipt is of repository repository-1, not of null/,
        (p) => ({ ...p, evidence: { ...p.evidence, repository_id: null } }),
      ],
      ['other failing tests', /about other failing tests/, failing('test/other.test.ts > a')],
      ['no failing tests', /about other failing tests/, failing()],
      [
        'more failing tests',
        /about other failing tests/,
        failing(...sampleEvidence.failing_tests, 'test/b.ts > b'),
      ],
      [
        'an altered receipt',
        /the receipt was altered/,
        (p) => ({
          ...p,
          receipt: p.receipt && { ...p.receipt, body: { ...p.receipt.body, target_count: 5 } },
        }),
      ],
      [
        'a receipt with a made-up signature',
        /the receipt was altered/,
        (p) => ({
          ...p,
          receipt: p.receipt && { ...p.receipt, signature: Buffer.alloc(64).toString('base64') },
        }),
      ],
    ]
    it.each(refusals)('%s', async (_, message, change) => {
      const refused = await store(change(samplePayload(key, 'run-1')))
      expect(refused).toMatchObject({ stored: false, error: 'unconfirmed_outcome' })
      expect(refused).toHaveProperty('message', expect.stringMatching(message))
      expect(await total()).toBe(0)
    })

    it('a receipt of a key that is not trusted, until it is', async () => {
      const elsewhere = await mkdtemp(join(tmpdir(), 'astra-memory-'))
      try {
        const foreign = loadSigningKey(elsewhere)
        const refused = await store(samplePayload(foreign, 'run-1'))
        expect(refused).toMatchObject({ stored: false, error: 'unconfirmed_outcome' })
        expect(refused).toHaveProperty('message', expect.stringContaining('not trusted here'))
        expect(await total()).toBe(0)
        const publicKey = createPublicKey(foreign.privateKey)
        trustKey(home, publicKey, { source: 'trusted', name: 'CI' })
        expect(await store(samplePayload(foreign, 'run-1'))).toMatchObject({ stored: true })
        expect((await search()).matches).toMatchObject([{ proved: true }])
      } finally {
        await rm(elsewhere, { recursive: true, force: true })
      }
    })

    it('a receipt of a key that is distrusted', async () => {
      rotateSigningKey(home)
      removeTrustedKey(home, key.keyId)
      expect(await store(samplePayload(key, 'run-1'))).toMatchObject({
        error: 'unconfirmed_outcome',
        message: expect.stringContaining(`key ${key.keyId}, which is not trusted here`),
      })
      expect(await total()).toBe(0)
    })

    it.each([
      ['session_id', (p: StorePayload) => ({ ...p, session_id: 'smoke-/../x', receipt: null })],
      [
        'fix_description',
        (p: StorePayload) => ({ ...p, claim: { ...p.claim, fix_description: 'half \ud800' } }),
      ],
      [
        'file_paths',
        (p: StorePayload) => ({ ...p, claim: { ...p.claim, file_paths: ['ok', '\udc00'] } }),
      ],
    ])('a broken %s, by name', async (field, change) => {
      const refused = await store(change(samplePayload(key, 'run-1')))
      expect(refused).toMatchObject({ stored: false, error: 'memory_validation' })
      expect(refused).toHaveProperty('message', expect.stringContaining(`${field}: `))
      expect(await total()).toBe(0)
    })
  })

  it.each([
    ['a failed embedder', { ok: false, error: 'out of memory' }, 'embedder failed: out of memory'],
    ['a vector of the wrong length', { ok: true, value: { vectors: ['AAAA', 'AAAA'] } }, '384'],
    ['too few vectors', { ok: true, value: { vectors: [encodeVector(at(1))] } }, 'must give 2'],
    [
      'a vector without direction',
      { ok: true, value: { vectors: [at(1), new Float32Array(DIMENSIONS)].map(encodeVector) } },
      'the fix vector must have length 1',
    ],
  ] satisfies [string, ChildOutcome, string][])(
    'fails on %s and stores nothing',
    async (_, child, message) => {
      await expect(store(samplePayload(key, 'run-1'), context(child))).rejects.toThrow(message)
      expect(await total()).toBe(0)
    },
  )

  it('takes a record without a receipt from a smoke session alone, and calls it unproved', async () => {
    expect(await store({ ...samplePayload(key, 'smoke-1'), receipt: null })).toMatchObject({
      stored: true,
    })
    expect((await search()).matches).toMatchObject([{ session_id: 'smoke-1', proved: false }])
  })

  it('refuses a forged receipt from a smoke session too', async () => {
    const forged = { ...sampleReceipt(key, { run_id: 'smoke-1' }), key_id: 'mine' }
    expect(await store({ ...samplePayload(key, 'smoke-1'), receipt: forged })).toMatchObject({
      stored: false,
      error: 'unconfirmed_outcome',
    })
  })
})

describe('a store payload that does not fit is named by its field', () => {
  it.each([
    ['claim.outcome', (p: StorePayload) => ({ ...p, claim: { ...p.claim, outcome: undefined } })],
    [
      'claim.file_paths',
      (p: StorePayload) => ({ ...p, claim: { ...p.claim, file_paths: 'a.ts' } }),
    ],
    ['confirmed_at', (p: StorePayload) => ({ ...p, confirmed_at: '2026-11-01T10:00:00' })],
  ])('%s', (field, change) => {
    const parsed = storePayloadSchema.safeParse(change(samplePayload(key, 'run-1')))
    expect(parsed.error?.issues.map(({ path }) => path.join('.'))).toEqual([field])
  })
})

describe('search', () => {
  const other = 'Read the price before the discount is taken off'

  it('gives the nearest first, at most top_k, and counts them as shown', async () => {
    const far = samplePayload(key, 'run-2', { fix_description: other })
    await store(
      { ...far, evidence: { ...sampleEvidence, diff: '' } },
      embedded(at(0.7, 2), at(0.2)),
    )
    const near = await store(samplePayload(key, 'run-1'), embedded(at(0.9), at(0.1)))
    const third = samplePayload(key, 'run-3', { fix_description: `${other} twice` })
    await store(
      { ...third, evidence: { ...sampleEvidence, diff: '' } },
      embedded(at(0.6, 3), at(0)),
    )
    const { matches, searched } = await search({ top_k: 2 })
    expect(matches.map(({ session_id }) => session_id)).toEqual(['run-1', 'run-2'])
    expect(matches.map(({ score }) => score)).toEqual([expect.closeTo(0.9), expect.closeTo(0.7)])
    expect(matches.map(({ proved }) => proved)).toEqual([true, true])
    expect(searched).toBe(3)
    const { records } = await backend.list({ limit: 9, offset: 0, session_id: null })
    expect(records.map(({ session_id, shown }) => [session_id, shown])).toEqual(
      expect.arrayContaining([
        ['run-1', 1],
        ['run-2', 1],
        ['run-3', 0],
      ]),
    )
    expect(near).toHaveProperty('memory_id', matches[0]?.memory_id)
  })

  it('calls a failure that it has seen word for word the same, and says what speaks for it', async () => {
    await store(samplePayload(key, 'run-1'))
    const { matches } = await search({ error_type: 'AssertionError: expected true' })
    expect(matches).toMatchObject([{ relevance: 'same', speaks_against: [] }])
    expect(matches[0]?.probability).toBeGreaterThan(0.5)
    expect(matches[0]?.speaks_for).toEqual([
      'same error type: "AssertionError"',
      expect.stringMatching(/^shared words: .*spaces/),
    ])
  })

  it('finds by the observed symptom what a poor query hides', async () => {
    await store(samplePayload(key, 'run-1'))
    const { symptom } = sampleEvidence
    const poor = { query: 'it is broken', error_type: null, top_k: 3 }
    expect((await searchMemory(poor, embedded(at(0, 2)), deps)).matches).toEqual([])
    const found = await searchMemory({ ...poor, symptom }, embedded(at(0, 2), at(0.9, 3)), deps)
    expect(found.matches.map(({ score }) => score)).toEqual([expect.closeTo(0.9, 4)])
  })

  it('takes the error type of the observed symptom for evidence, not for a filter', async () => {
    await store(samplePayload(key, 'run-1', { error_type: 'KeyError' }))
    const question = { query: sampleEvidence.symptom, error_type: null, top_k: 3 }
    const symptom = `TypeError: x is not iterable\n${sampleEvidence.symptom}`
    const found = await searchMemory({ ...question, symptom }, embedded(at(1), at(1)), deps)
    expect(found).toMatchObject({ error_type_filter: 'none', searched: 1 })
    expect(found.matches[0]?.speaks_against).toContain(
      'other error type: "KeyError", not "TypeError"',
    )
  })

  it('answers nothing to a failure that has nothing to do with any record', async () => {
    await store(samplePayload(key, 'run-1'))
    expect(await search({ query: 'connection pool exhausted' }, at(0.1, 2))).toEqual({
      matches: [],
      error_type_filter: 'none',
      searched: 1,
      withheld: null,
    })
  })

  it('says to a person why the nearest are no answer, and counts nothing as shown', async () => {
    await store(samplePayload(key, 'run-1'))
    const unlike = samplePayload(key, 'run-2', { error_type: 'KeyError', fix_description: other })
    const symptom = 'the queue of parcels is empty'
    const evidence = { ...sampleEvidence, symptom, symptom_raw: symptom, diff: '' }
    await store({ ...unlike, evidence }, embedded(at(0, 2), at(0, 3)))
    const asked = { error_type: null, explain: true }
    const { matches, no_matches = [] } = await search(asked)
    const [answer, ...others] = matches
    expect([answer?.session_id, others]).toEqual(['run-1', []])
    expect(no_matches).toMatchObject([
      { error_type: 'KeyError', why: { reason: 'unlikely', threshold: expect.any(Number) } },
    ])
    const { kinship, why } = no_matches[0] ?? {}
    expect(kinship).toBeLessThan(why?.reason === 'unlikely' ? why.threshold : 0)
    expect(no_matches[0]?.speaks_against.join()).toContain('not in the record: ')
    const again = await search({ error_type: null })
    expect(again.no_matches).toBeUndefined()
    const { records } = await backend.list({ limit: 9, offset: 0, session_id: 'run-1' })
    expect(records.map(({ shown }) => shown)).toEqual([1])
  })

  it('names to a person what more there is than was asked for', async () => {
    await store(samplePayload(key, 'run-1', { error_type: 'TypeError' }))
    await store(samplePayload(key, 'run-2', { error_type: 'KeyError' }))
    const { matches, no_matches } = await search({ error_type: null, top_k: 1, explain: true })
    expect(matches).toHaveLength(1)
    expect(no_matches).toMatchObject([{ why: { reason: 'beyond_top_k' } }])
  })

  it('looks among records of the error type alone, whatever its case and message', async () => {
    await store(samplePayload(key, 'run-1', { error_type: 'TypeError: x is not a function' }))
    await store(samplePayload(key, 'run-2', { error_type: 'KeyError' }))
    const found = async (error_type: string | null) => {
      const { matches, searched, error_type_filter } = await search({ error_type })
      return [matches.map(({ session_id }) => session_id).sort(), error_type_filter, searched]
    }
    expect(await found(' typeerror: y is null')).toEqual([['run-1'], 'kept', 1])
    expect(await found(null)).toEqual([['run-1', 'run-2'], 'none', 2])
    expect(await found(' ')).toEqual([['run-1', 'run-2'], 'none', 2])
  })

  it('looks again without the error type when that leaves no answer, and says so', async () => {
    await store(samplePayload(key, 'run-1', { error_type: 'TypeError' }))
    const unlike = samplePayload(key, 'run-2', { error_type: 'KeyError', fix_description: other })
    const symptom = 'the queue of parcels is empty'
    const evidence = { ...sampleEvidence, symptom, symptom_raw: symptom, diff: '' }
    await store({ ...unlike, evidence }, embedded(at(0, 2), at(0, 3)))
    for (const error_type of ['ValueError', 'KeyError']) {
      const { matches, error_type_filter, searched } = await search({ error_type })
      expect([error_type_filter, searched]).toEqual(['dropped', 2])
      expect(matches).toMatchObject([{ session_id: 'run-1' }])
      expect(matches[0]?.speaks_against).toContain(
        `other error type: "TypeError", not "${error_type}"`,
      )
    }
    const lost = await search({ query: 'invoice lost', error_type: 'KeyError' }, at(0.1, 2))
    expect(lost).toMatchObject({ matches: [], error_type_filter: 'dropped', searched: 2 })
  })

  it('calls a record unproved once its key is no longer trusted', async () => {
    await store(samplePayload(key, 'run-1'))
    removeTrustedKey(home, key.keyId)
    const { matches } = await search()
    expect(matches).toMatchObject([{ session_id: 'run-1', proved: false, relevance: 'similar' }])
    expect(matches[0]?.speaks_against).toContain('nothing proves this record')
  })

  it('says that the embedder failed, or that nothing was embedded', async () => {
    const payload = { query: 'q', error_type: null, top_k: 3 }
    const failed = context({ ok: false, error: 'model file missing' })
    await expect(searchMemory(payload, failed, deps)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the embedder failed: model file missing',
    })
    await expect(searchMemory(payload, context(), deps)).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})
