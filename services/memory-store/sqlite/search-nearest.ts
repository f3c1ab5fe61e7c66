import type { Candidate } from '../backend.ts'
import { errorKey } from '../error-key.ts'
import { readRecord } from './read-records.ts'
import type { Statements } from './statements.ts'
import { vectorBytes } from './vector-bytes.ts'

/**
 * The `limit` records that are nearest by the better of their two vectors. A record among them is
 * also among the `limit` nearest by that vector alone, so the two short lists are enough.
 */
export function searchNearest(
  statements: Statements,
  vector: Float32Array,
  errorType: string | null,
  limit: number,
): Candidate[] {
  const query = vectorBytes(vector)
  const rows =
    errorType === null
      ? [
          ...statements.nearestSymptoms.all(query, limit),
          ...statements.nearestFixes.all(query, limit),
        ]
      : [
          ...statements.nearestSymptomsOfType.all(query, limit, errorKey(errorType)),
          ...statements.nearestFixesOfType.all(query, limit, errorKey(errorType)),
        ]
  const distances = new Map<number, number>()
  for (const row of rows) {
    const id = Number(row.id)
    distances.set(id, Math.min(Number(row.distance), distances.get(id) ?? Number.POSITIVE_INFINITY))
  }
  return [...distances]
    .sort(([idA, a], [idB, b]) => a - b || idA - idB)
    .slice(0, limit)
    .flatMap(([id, distance]) => {
      const record = readRecord(statements.getById.get(id))
      return record ? [{ record, cosine: cosineOf(distance) }] : []
    })
}

/** Of two unit vectors, from their Euclidean distance, which is quicker to compute than a cosine. */
function cosineOf(distance: number): number {
  return Math.max(-1, 1 - (distance * distance) / 2)
}
