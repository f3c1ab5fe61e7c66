import { DoubleError } from './double-server.ts'
import { type Payload, type PointId, readFilter } from './point-filter.ts'

export type Sparse = { indices: number[]; values: number[] }
export type Point = {
  id: PointId
  dense: Record<string, Float32Array>
  sparse: Record<string, Sparse>
  payload: Payload
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The id as it is kept; refuses what is neither an unsigned number nor a UUID. */
export function readId(id: unknown): PointId {
  if (typeof id === 'number' && Number.isInteger(id) && id >= 0) return id
  if (typeof id === 'string' && UUID.test(id.toLowerCase())) return id.toLowerCase()
  throw new DoubleError(400, `${JSON.stringify(id)} is not a valid point ID`)
}

/** As Cosine collections do at upload. */
export function normalised(values: unknown, size: number): Float32Array {
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'number')) {
    throw new DoubleError(400, 'a vector must be a list of numbers')
  }
  if (values.length !== size) {
    throw new DoubleError(
      400,
      `Vector dimension error: expected dim: ${size}, got ${values.length}`,
    )
  }
  const length = Math.hypot(...values) || 1
  return Float32Array.from(values, (value) => value / length)
}

/** The points of one collection, in the order of their ids: numbers first. */
export class PointStore {
  readonly #points = new Map<string, Point>()

  get size(): number {
    return this.#points.size
  }
  get(id: unknown): Point | undefined {
    return this.#points.get(String(readId(id)))
  }
  put(point: Point): void {
    this.#points.set(String(point.id), point)
  }
  delete(id: unknown): void {
    this.#points.delete(String(readId(id)))
  }
  matching(filter: unknown): Point[] {
    return [...this.#points.values()]
      .filter(readFilter(filter))
      .sort((a, b) => compareIds(a.id, b.id))
  }

  /** The nearest by cosine, best first; points without that vector are left out. */
  nearest(name: string, query: Float32Array, filter: unknown): { point: Point; score: number }[] {
    return this.matching(filter)
      .flatMap((point) => {
        const vector = point.dense[name]
        return vector ? [{ point, score: dot(query, vector) }] : []
      })
      .sort((a, b) => b.score - a.score)
  }

  /** By the sum of products of common indices, each times its inverse document frequency. */
  bySparse(name: string, query: Sparse, filter: unknown): { point: Point; score: number }[] {
    const all = [...this.#points.values()].flatMap(({ sparse }) => sparse[name] ?? [])
    const idf = query.indices.map((index) => {
      const having = all.filter(({ indices }) => indices.includes(index)).length
      return Math.log((all.length - having + 0.5) / (having + 0.5) + 1)
    })
    return this.matching(filter)
      .flatMap((point) => {
        const vector = point.sparse[name]
        if (!vector?.indices.some((index) => query.indices.includes(index))) return []
        const score = query.indices.reduce((sum, index, i) => {
          const value = vector.values[vector.indices.indexOf(index)] ?? 0
          return sum + value * (query.values[i] ?? 0) * (idf[i] ?? 0)
        }, 0)
        return [{ point, score }]
      })
      .sort((a, b) => b.score - a.score)
  }

  /** One page in the order of ids, from `offset` on, and the id at which the next one begins. */
  page(filter: unknown, offset: unknown, limit: number): { points: Point[]; next: PointId | null } {
    const from = offset === undefined || offset === null ? null : readId(offset)
    const rest = this.matching(filter).filter(
      ({ id }) => from === null || compareIds(id, from) >= 0,
    )
    return { points: rest.slice(0, limit), next: rest[limit]?.id ?? null }
  }
}

function compareIds(a: PointId, b: PointId): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1
  return String(a) < String(b) ? -1 : Number(String(a) !== String(b))
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}
