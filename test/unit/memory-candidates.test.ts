import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  LiveFilter,
  MemoryBackend,
  RecordVectors,
} from '../../services/memory-store/backend.ts'
import { rarestTerms, termsOf } from '../../services/memory-store/retrieval/terms.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { dot } from '../../services/memory-store/unit-vector.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { errorTypeOf, failureRecord, lineOf, recurrenceOf } from '../bench/failure-corpus.ts'
import { seededVector } from '../support/memory.ts'

const RECORDS = 1_200
const DIMENSIONS = 48
const LIMIT = 20
const everything: LiveFilter = { errorType: null, scope: null, notBefore: null }

type Stored = { record: MemoryRecord; vectors: RecordVectors }

let folder: string
let file: string
let backend: MemoryBackend
let stored: Stored[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-candidates-'))
  file = join(folder, 'memory.db')
  backend = openSqliteBackend({ file, dimensions: DIMENSIONS })
  const key = loadSigningKey(folder)
  stored = Array.from({ length: RECORDS }, (_, seed) => ({
    record: {
      ...failureRecord(seed, key),
      timestamp: new Date(Date.UTC(2026, 0, 1) + seed * 3_600_000).toISOString(),
      group: seed % 7 === 0 ? 'team' : null,
    },
    vectors: {
      symptom: seededVector(2 * seed, DIMENSIONS),
      fix: seededVector(2 * seed + 1, DIMENSIONS),
    },
  }))
  for (const { record, vectors } of stored) await backend.upsert(record, vectors)
  await backend.setRevoked({ repository_id: 'repository-3' }, '2026-11-02T00:00:00Z')
  await backend.supersede([idOf(11), idOf(12)], idOf(13))
  for (const seed of [40, 41, 42]) await backend.delete(idOf(seed))
  const gone = ({ repository_id, memory_id }: MemoryRecord) =>
    repository_id === 'repository-3' || [11, 12, 40, 41, 42].map(idOf).includes(memory_id)
  stored = stored.filter(({ record }) => !gone(record))
})

afterAll(async () => {
  await backend.close()
  await rm(folder, { recursive: true, force: true })
})

const idOf = (seed: number) => stored[seed]?.record.memory_id ?? ''

// The store searches in pieces, with rounded vectors and few counts; here all is compared at one go.
describe('the candidates of a search in pieces are those of a search at one go', () => {
  const filters: [name: string, filter: Partial<LiveFilter>, fits: (r: MemoryRecord) => boolean][] =
    [
      ['without a filter', {}, () => true],
      [
        'of an error type',
        { errorType: errorTypeOf(5) },
        ({ error_type }) => error_type === errorTypeOf(5),
      ],
      ['of a group', { scope: { group: 'team' } }, ({ group }) => group === 'team'],
      [
        'of a repository',
        { scope: { repository_id: 'repository-8' } },
        ({ repository_id }) => repository_id === 'repository-8',
      ],
      [
        'of the last days',
        { notBefore: '2026-02-10T00:00:00Z' },
        ({ timestamp }) => timestamp >= '2026-02-10T00:00:00.000Z',
      ],
      ['of an error type that no record has', { errorType: 'no such error' }, () => false],
    ]

  it.each(filters)('%s', async (_, changes, fits) => {
    const filter = { ...everything, ...changes }
    const live = stored.filter(({ record }) => fits(record))
    expect(await backend.countLive(filter)).toBe(live.length)
    for (const text of [1, 2, 3].flatMap((seed) => [recurrenceOf(seed), lineOf(seed)])) {
      const vectors = [1, 2].map((seed) => seededVector(90_000 + seed, DIMENSIONS))
      const found = await backend.candidates({ ...filter, vectors, text, limit: LIMIT })
      const words = bestByWords(text, live)
      const wanted = [
        ...nearest('symptom', live, vectors),
        ...nearest('fix', live, vectors),
        ...words.keys(),
      ]
      expect(found.map(({ record }) => record.memory_id).sort()).toEqual(
        [...new Set(wanted)].sort(),
      )
      for (const { record, lexical } of found) {
        expect(lexical).toBeCloseTo(words.get(record.memory_id) ?? 0, 9)
      }
    }
  })
})

it('finds the same when searches come at once', async () => {
  const asked = [1, 2, 3, 4, 5, 6].map((seed) => ({
    ...everything,
    vectors: [seededVector(80_000 + seed, DIMENSIONS)],
    text: seed % 2 === 0 ? lineOf(seed) : recurrenceOf(seed),
    limit: LIMIT,
  }))
  const oneByOne = []
  for (const each of asked) oneByOne.push(await backend.candidates(each))
  expect(await Promise.all(asked.map((each) => backend.candidates(each)))).toEqual(oneByOne)
})

function nearest(
  column: 'symptom' | 'fix',
  live: readonly Stored[],
  queries: readonly Float32Array[],
): string[] {
  const cosine = ({ vectors }: Stored) =>
    Math.max(...queries.map((query) => dot(query, vectors[column])))
  return live
    .map((each) => ({ id: each.record.memory_id, cosine: cosine(each) }))
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, LIMIT)
    .map(({ id }) => id)
}

/** By one statement over all, with the terms that full counts choose. */
function bestByWords(text: string, live: readonly Stored[]): Map<string, number> {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const one = (sql: string, ...values: SQLInputValue[]) =>
      Number(db.prepare(sql).get(...values)?.n)
    const terms = rarestTerms(termsOf(text), {
      frequency: (term) => one('SELECT doc AS n FROM memory_terms WHERE term = ?', term) || 0,
      total: one('SELECT count(*) AS n FROM memories'),
      max: 12,
    })
    const rows = db
      .prepare(`
        SELECT memory_id AS id, -bm25(memory_text, 2.0, 1.0, 1.0) AS score
        FROM memory_text JOIN memories ON memories.id = memory_text.rowid
        WHERE memory_text MATCH ? ORDER BY score DESC, memories.id`)
      .all(terms.map((term) => `"${term}"`).join(' OR '))
    const ids = new Set(live.map(({ record }) => record.memory_id))
    const best = rows.filter(({ id }) => ids.has(String(id))).slice(0, LIMIT)
    return new Map(best.map(({ id, score }) => [String(id), Number(score)]))
  } finally {
    db.close()
  }
}
