import type { DatabaseSync } from 'node:sqlite'
import type { Candidate, CandidateQuery, LiveFilter } from '../backend.ts'
import { createPace, type Pace } from '../pace.ts'
import { oneAtATime } from '../points/one-at-a-time.ts'
import { dot } from '../unit-vector.ts'
import { createWordFinder } from './find-by-words.ts'
import { readRecord, readVectors } from './read-records.ts'
import type { FollowedScan } from './scan/follow-changes.ts'
import { scanFilter } from './scan-filter.ts'
import type { Statements } from './statements.ts'

export type Finder = {
  candidates(query: CandidateQuery): Promise<Candidate[]>
  countLive(filter: LiveFilter): Promise<number>
}

type Cosine = Candidate['cosine']

/** Searches take turns: each shares the event loop with other work, and two would be no faster. */
export function createFinder(
  reader: DatabaseSync,
  statements: Statements,
  followed: FollowedScan,
): Finder {
  const words = createWordFinder(reader)
  const inTurn = oneAtATime()

  /** By the better of the query's vectors. Passes over what is gone meanwhile. */
  async function exactCosines(
    ids: ReadonlySet<number>,
    { vectors }: CandidateQuery,
    pace: Pace,
  ): Promise<Map<number, Cosine>> {
    const cosines = new Map<number, Cosine>()
    for (const id of ids) {
      const own = readVectors(statements, id)
      const best = (vector: Float32Array) => Math.max(...vectors.map((each) => dot(each, vector)))
      if (own) cosines.set(id, { symptom: best(own.symptom), fix: best(own.fix) })
      if (pace.isDue) await pace.breathe()
    }
    return cosines
  }

  async function find(query: CandidateQuery): Promise<Candidate[]> {
    const pace = createPace()
    const filter = scanFilter(query)
    const scan = await followed.current()
    if (scan.count(filter) === 0) return []
    const near = await scan.nearest(query.vectors, filter, query.limit, pace)
    const scores = await words.best({
      text: query.text,
      total: scan.size,
      matches: scan.matcher(filter),
      limit: query.limit,
      pace,
    })
    const ids = new Set([...near.symptom, ...near.fix, ...scores.keys()])
    const cosines = await exactCosines(ids, query, pace)
    const nearest = [
      ...nearestBy('symptom', near.symptom, cosines, query.limit),
      ...nearestBy('fix', near.fix, cosines, query.limit),
    ]
    const candidates: Candidate[] = []
    for (const id of new Set([...nearest, ...scores.keys()])) {
      const record = readRecord(statements.getById.get(id))
      const cosine = cosines.get(id)
      if (record && cosine) candidates.push({ record, cosine, lexical: scores.get(id) ?? 0 })
      if (pace.isDue) await pace.breathe()
    }
    return candidates
  }

  return {
    candidates: (query) => inTurn('search', () => find(query)),
    async countLive(filter) {
      return (await followed.current()).count(scanFilter(filter))
    },
  }
}

/** The best of rows by one vector, by its exact cosine. */
function nearestBy(
  column: 'symptom' | 'fix',
  ids: readonly number[],
  cosines: ReadonlyMap<number, Cosine>,
  limit: number,
): number[] {
  const of = (id: number) => cosines.get(id)?.[column] ?? -1
  return [...ids].sort((a, b) => of(b) - of(a) || a - b).slice(0, limit)
}
