import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Candidate, CandidateQuery, LiveFilter } from '../backend.ts'
import { rarestTerms, termsOf } from '../retrieval/terms.ts'
import { dot } from '../unit-vector.ts'
import { liveRows, scanFilter } from './live-filter.ts'
import { readRecord, readVectors } from './read-records.ts'
import type { FollowedScan } from './scan/follow-changes.ts'
import type { Statements } from './statements.ts'

/** Terms of a query that are looked up: 20 common ones took ten times as long as the 8 rarest. */
const MAX_TERMS = 12

/** A name in the error type says more than one in the log around it. */
const BM25 = 'bm25(memory_text, 2.0, 1.0, 1.0)'

/** Vectors in memory are rounded: this many more are compared exactly. */
const ROUNDING = 32

export type Finder = {
  candidates(query: CandidateQuery): Promise<Candidate[]>
  countLive(filter: LiveFilter): number
}

export function createFinder(
  db: DatabaseSync,
  statements: Statements,
  followed: FollowedScan,
): Finder {
  const prepare = preparedOnce(db)

  /** BM25 of the best by words, by id. */
  function lexical(query: CandidateQuery): Map<number, number> {
    const terms = rarestTerms(termsOf(query.text), {
      frequency: (term) => Number(statements.documentsWith.get(term)?.doc ?? 0),
      total: Number(statements.countAll.get()?.n),
      max: MAX_TERMS,
    })
    if (terms.length === 0) return new Map()
    const { where, values } = liveRows(query)
    const rows = prepare(`
      SELECT id, -${BM25} AS score FROM memory_text JOIN memories ON id = memory_text.rowid
      WHERE memory_text MATCH ? AND ${where} ORDER BY score DESC, id LIMIT ?`).all(
      terms.map((term) => `"${term}"`).join(' OR '),
      ...values,
      query.limit,
    )
    return new Map(rows.map(({ id, score }) => [Number(id), Number(score)]))
  }

  /** The vectors of a row by the better of the query's; null for one that is gone meanwhile. */
  function cosinesOf(id: number, { vectors }: CandidateQuery): Candidate['cosine'] | null {
    const own = readVectors(statements, id)
    if (!own) return null
    const best = (vector: Float32Array) => Math.max(...vectors.map((each) => dot(each, vector)))
    return { symptom: best(own.symptom), fix: best(own.fix) }
  }

  return {
    async candidates(query) {
      const scores = lexical(query)
      const scan = await followed.current()
      const near = await scan.nearest(query.vectors, scanFilter(query), query.limit + ROUNDING)
      const ids = new Set([...near.symptom, ...near.fix, ...scores.keys()])
      const cosines = new Map<number, Candidate['cosine']>()
      for (const id of ids) {
        const cosine = cosinesOf(id, query)
        if (cosine) cosines.set(id, cosine)
      }
      const nearest = [
        ...nearestBy('symptom', near.symptom, cosines, query.limit),
        ...nearestBy('fix', near.fix, cosines, query.limit),
      ]
      return [...new Set([...nearest, ...scores.keys()])].flatMap((id) => {
        const record = readRecord(statements.getById.get(id))
        const cosine = cosines.get(id)
        return record && cosine ? [{ record, cosine, lexical: scores.get(id) ?? 0 }] : []
      })
    },
    countLive(filter) {
      const { where, values } = liveRows(filter)
      const row = prepare(`SELECT count(*) AS n FROM memories WHERE ${where}`).get(...values)
      return Number(row?.n)
    },
  }
}

/** The best of rows by one vector, by its exact cosine. */
function nearestBy(
  column: 'symptom' | 'fix',
  ids: readonly number[],
  cosines: ReadonlyMap<number, Candidate['cosine']>,
  limit: number,
): number[] {
  const of = (id: number) => cosines.get(id)?.[column] ?? -1
  return [...ids].sort((a, b) => of(b) - of(a) || a - b).slice(0, limit)
}

type Run = { all(...values: SQLInputValue[]): ReturnType<StatementSync['all']> } & {
  get(...values: SQLInputValue[]): ReturnType<StatementSync['get']>
}

/** The few shapes that filters give are prepared when they first come. */
function preparedOnce(db: DatabaseSync): (sql: string) => Run {
  const prepared = new Map<string, StatementSync>()
  return (sql) => {
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }
}
