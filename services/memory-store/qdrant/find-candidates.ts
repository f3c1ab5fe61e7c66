import type { Candidate, CandidateQuery, LiveFilter } from '../backend.ts'
import { has, liveConditions } from '../points/live-filter.ts'
import { readRecord } from '../points/record-payload.ts'
import { termsOf } from '../retrieval/terms.ts'
import { dot } from '../unit-vector.ts'
import type { Qdrant } from './qdrant-client.ts'
import { readVectors, sparse } from './record-point.ts'

/** Of a query: a whole log has more, and its first ones name the failure. */
const MAX_TERMS = 256

/** The server chooses, exact cosines are computed here from the vectors of those it chose. */
export async function findCandidates(qdrant: Qdrant, query: CandidateQuery): Promise<Candidate[]> {
  const { ask, collection } = qdrant
  const filter = liveFilter(query)
  const { limit, vectors } = query
  const dense = (['symptom', 'fix'] as const).flatMap((using) =>
    vectors.map((vector) => ({ query: [...vector], using, filter, limit })),
  )
  const terms = [...new Set(termsOf(query.text))].slice(0, MAX_TERMS)
  const words = sparse(new Map(terms.map((term) => [term, 1])))
  const lexical = terms.length === 0 ? [] : [{ query: words, using: 'words', filter, limit }]
  const answers = await ask((client) =>
    client.queryBatch(collection, { searches: [...dense, ...lexical] }),
  )
  const lists = answers.map(({ points }) =>
    points.map(({ id, score }) => [String(id), score] as const),
  )
  const scores = new Map(lexical.length === 0 ? [] : lists.at(-1))
  const near = [lists.slice(0, vectors.length), lists.slice(vectors.length, dense.length)]
  const ids = new Set([...near.flatMap((each) => best(each.flat(), limit)), ...scores.keys()])
  if (ids.size === 0) return []
  const points = await ask((client) =>
    client.retrieve(collection, { ids: [...ids], with_vector: ['symptom', 'fix'] }),
  )
  return points.flatMap(({ id, payload, vector }) => {
    const record = readRecord(payload ?? {})
    const own = readVectors(vector)
    if (!record || !own) return []
    const cosine = (one: Float32Array) => Math.max(...vectors.map((each) => dot(each, one)))
    const cosines = { symptom: cosine(own.symptom), fix: cosine(own.fix) }
    return [{ record, cosine: cosines, lexical: Math.max(0, scores.get(String(id)) ?? 0) }]
  })
}

export async function countLive({ ask, collection }: Qdrant, filter: LiveFilter): Promise<number> {
  const { count } = await ask((client) =>
    client.count(collection, { filter: liveFilter(filter), exact: true }),
  )
  return count
}

function liveFilter(filter: LiveFilter) {
  return { must: [has('kind', 'record'), ...liveConditions(filter)] }
}

/** The ids of the `limit` best, each by its best score. */
function best(hits: (readonly [id: string, score: number])[], limit: number): string[] {
  const scores = new Map<string, number>()
  for (const [id, score] of hits) scores.set(id, Math.max(score, scores.get(id) ?? -1))
  return [...scores]
    .sort(([, a], [, b]) => b - a)
    .slice(0, limit)
    .map(([id]) => id)
}
