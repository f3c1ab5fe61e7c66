import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Candidate, CandidateQuery, LiveFilter } from '../backend.ts'
import { rarestTerms, termsOf } from '../retrieval/terms.ts'
import { dot } from '../unit-vector.ts'
import { liveRows, liveVectors } from './live-filter.ts'
import { readRecord, readVectors } from './read-records.ts'
import type { Statements } from './statements.ts'
import { vectorBytes } from './vector-bytes.ts'

/** Terms of a query that are looked up: 20 common ones took ten times as long as the 8 rarest. */
const MAX_TERMS = 12

/** A name in the error type says more than one in the log around it. */
const BM25 = 'bm25(memory_text, 2.0, 1.0, 1.0)'

export type Finder = {
  candidates(query: CandidateQuery): Candidate[]
  countLive(filter: LiveFilter): number
}

export function createFinder(db: DatabaseSync, statements: Statements): Finder {
  const prepare = preparedOnce(db)

  /** The distances of the `limit` nearest, by id, to the nearer of the query's vectors. */
  function nearest(column: 'symptom' | 'fix', query: CandidateQuery): Map<number, number> {
    const { where, values } = liveVectors(query)
    const statement = prepare(`
      SELECT id, distance FROM live_vectors WHERE ${column} MATCH ? AND k = ? AND ${where}`)
    const distances = new Map<number, number>()
    for (const vector of query.vectors) {
      for (const row of statement.all(vectorBytes(vector), query.limit, ...values)) {
        const id = Number(row.id)
        distances.set(id, Math.min(Number(row.distance), distances.get(id) ?? Infinity))
      }
    }
    const best = [...distances].sort(([idA, a], [idB, b]) => a - b || idA - idB)
    return new Map(best.slice(0, query.limit))
  }

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

  function candidate(id: number, query: CandidateQuery, score: number): Candidate[] {
    const record = readRecord(statements.getById.get(id))
    const vectors = readVectors(statements, id)
    if (!record || !vectors) return []
    const cosine = (own: Float32Array) => Math.max(...query.vectors.map((each) => dot(each, own)))
    const cosines = { symptom: cosine(vectors.symptom), fix: cosine(vectors.fix) }
    return [{ record, cosine: cosines, lexical: score }]
  }

  return {
    candidates(query) {
      const scores = lexical(query)
      const near = [nearest('symptom', query), nearest('fix', query)]
      const ids = new Set([...near.flatMap((each) => [...each.keys()]), ...scores.keys()])
      return [...ids].flatMap((id) => candidate(id, query, scores.get(id) ?? 0))
    },
    countLive(filter) {
      const { where, values } = liveRows(filter)
      const row = prepare(`SELECT count(*) AS n FROM memories WHERE ${where}`).get(...values)
      return Number(row?.n)
    },
  }
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
