import type { Candidate, CandidateQuery, LiveFilter } from '../backend.ts'
import { bm25 } from '../points/bm25.ts'
import { has, isLive, liveConditions } from '../points/live-filter.ts'
import { NONE, readRecord } from '../points/record-payload.ts'
import { dot } from '../unit-vector.ts'
import type { Collection, Point } from './collection.ts'
import { isMain, ours, withVectors } from './record-points.ts'

/** The nearest of each search, among which words are compared: the server knows none. */
const POOL = 100

/**
 * The nearest by each vector and, among all that came near, the best by words. The server chooses
 * by its filters; what it says is looked at again, since only the main point of a record counts.
 */
export async function findCandidates(
  collection: Collection,
  query: CandidateQuery,
): Promise<Candidate[]> {
  const hits = await Promise.all(query.vectors.map((vector) => nearest(collection, vector, query)))
  const ids = [...new Set(hits.flat())]
  const mains = (await collection.get(ids, true)).filter(isMain)
  const found = (await withVectors(collection, mains)).flatMap(({ record, vectors }) => {
    if (!record || !vectors || !isLive(record, query)) return []
    const cosine = (own: Float32Array) => Math.max(...query.vectors.map((each) => dot(each, own)))
    return [{ record, cosine: { symptom: cosine(vectors.symptom), fix: cosine(vectors.fix) } }]
  })
  const words = bm25(
    found.map(({ record }) => record),
    query.text,
  )
  const rated = found.map((each) => ({ ...each, lexical: words.get(each.record) ?? 0 }))
  const byWords = best(
    rated.filter(({ lexical }) => lexical > 0),
    (each) => each.lexical,
    query,
  )
  return [
    ...new Set([
      ...best(rated, ({ cosine }) => cosine.symptom, query),
      ...best(rated, ({ cosine }) => cosine.fix, query),
      ...byWords,
    ]),
  ].map((each) => (byWords.includes(each) ? each : { ...each, lexical: 0 }))
}

function best<T>(all: T[], score: (each: T) => number, { limit }: { limit: number }): T[] {
  return all.toSorted((a, b) => score(b) - score(a)).slice(0, limit)
}

/** The ids of the records that one vector is near to. */
async function nearest(
  collection: Collection,
  vector: Float32Array,
  query: CandidateQuery,
): Promise<string[]> {
  const limit = Math.max(POOL, query.limit)
  const live = liveConditions(query)
  const [fixes, symptoms, foreign] = await Promise.all([
    collection.search(vector, {
      filter: { must: [has('kind', 'record'), ...live], must_not: [has('claim', 'pending')] },
      limit,
    }),
    collection.search(vector, {
      filter: {
        must: live,
        should: [has('kind', 'symptom'), has('symptom_point', NONE)],
        must_not: [has('claim', 'pending')],
      },
      limit,
    }),
    nearestForeign(collection, vector, { ...query, limit }),
  ])
  return [...fixes, ...symptoms, ...foreign].map(({ id, payload }) =>
    payload.kind === 'symptom' ? String(payload.memory_id) : id,
  )
}

/** Of the tutorial's records, which carry none of the fields that the server filters by. */
async function nearestForeign(
  collection: Collection,
  vector: Float32Array,
  query: LiveFilter & { limit: number },
): Promise<Point[]> {
  if (query.scope !== null) return []
  const found: Point[] = []
  for (let offset = 0; found.length < query.limit; offset += query.limit) {
    const { limit } = query
    const page = await collection.search(vector, { filter: { must_not: ours }, limit, offset })
    found.push(...page.filter((point) => isLiveForeign(point, query)))
    if (page.length < limit) break
  }
  return found
}

function isLiveForeign({ payload }: Point, filter: LiveFilter): boolean {
  const record = readRecord(payload)
  return record !== null && isLive(record, filter)
}

export async function countLive(collection: Collection, filter: LiveFilter): Promise<number> {
  const must = [has('kind', 'record'), ...liveConditions(filter)]
  const own = await collection.count({ must, must_not: [has('claim', 'pending')] })
  if (filter.scope !== null) return own
  const foreign = await collection.all({ must_not: ours })
  return own + foreign.filter((point) => isLiveForeign(point, filter)).length
}
