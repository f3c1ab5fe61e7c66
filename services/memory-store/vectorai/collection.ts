import { z } from 'zod'
import type { PointFilter } from '../points/live-filter.ts'
import { type Payload, readPayload } from '../points/record-payload.ts'
import type { Http } from './http.ts'

/** A point as the server gives it. `vector` is null where it was not asked for, or is no vector. */
export type Point = { id: string; payload: Payload; vector: Float32Array | null }
export type NewPoint = { id: string; vector: Float32Array; payload: Payload }

/** Points of one request: a thousand of 384 numbers are some megabytes of text. */
const MAX_POINTS = 200

/** The calls on one collection. */
export type Collection = ReturnType<typeof openCollection>

export function openCollection({ request }: Http, name: string) {
  const path = `/collections/${encodeURIComponent(name)}/points`

  async function scroll(
    filter: PointFilter | Omit<PointFilter, 'must'>,
    options: { offset?: string | null; limit: number; with_vector?: boolean },
  ): Promise<{ points: Point[]; next: string | null }> {
    const { offset = null, limit, with_vector = false } = options
    const body = { filter, limit, with_payload: true, with_vector }
    const from = offset === null ? {} : { offset: asId(offset) }
    const page = pageSchema.parse(await request('POST', `${path}/scroll`, { ...body, ...from }))
    const next = page.next_page_offset ?? null
    return { points: readPoints(page.points), next: next === null ? null : String(next) }
  }

  return {
    name,
    scroll,

    /** All that fit: the collection is small, or so few fit. */
    async all(filter: PointFilter | Omit<PointFilter, 'must'>): Promise<Point[]> {
      const found: Point[] = []
      let offset: string | null = null
      do {
        const page: Awaited<ReturnType<typeof scroll>> = await scroll(filter, {
          offset,
          limit: MAX_POINTS,
        })
        found.push(...page.points)
        offset = page.next
      } while (offset !== null)
      return found
    },

    /** Those that are there, in no order. */
    async get(ids: readonly string[], with_vector = false): Promise<Point[]> {
      const found: Point[] = []
      for (let i = 0; i < ids.length; i += MAX_POINTS) {
        const some = ids.slice(i, i + MAX_POINTS).map(asId)
        // The clients of its maker disagree on the last word's number.
        const vectors = { with_vector, with_vectors: with_vector }
        const body = { ids: some, with_payload: true, ...vectors }
        found.push(...readPoints(await request('POST', path, body)))
      }
      return found
    },

    async search(
      vector: Float32Array,
      options: { filter: object; limit: number; offset?: number },
    ): Promise<Point[]> {
      const { filter, limit, offset = 0 } = options
      const how = { with_payload: true, with_vector: false, params: { exact: true } }
      const body = { vector: [...vector], filter, limit, offset, ...how }
      return readPoints(await request('POST', `${path}/search`, body))
    },

    async count(filter: PointFilter): Promise<number> {
      const answer = await request('POST', `${path}/count`, { filter, exact: true })
      return z.object({ count: z.coerce.number() }).parse(answer).count
    },

    async upsert(points: readonly NewPoint[]): Promise<void> {
      const written = points.map(({ id, vector, payload }) => ({
        id,
        vector: [...vector],
        payload,
      }))
      await request('PUT', `${path}?wait=true`, { points: written })
    },

    /** Merges these fields into the payloads; others stay. */
    async setPayload(ids: readonly string[], payload: Payload): Promise<void> {
      for (let i = 0; i < ids.length; i += MAX_POINTS) {
        const points = ids.slice(i, i + MAX_POINTS).map(asId)
        await request('POST', `${path}/payload`, { points, payload })
      }
    },

    /** Passes over ids that are not there. */
    async delete(ids: readonly string[]): Promise<void> {
      if (ids.length > 0) await request('POST', `${path}/delete`, { points: ids.map(asId) })
    },
  }
}

const pageSchema = z.object({
  points: z.unknown().optional(),
  next_page_offset: z.union([z.string(), z.number()]).nullish(),
})
const pointSchema = z.object({
  id: z.union([z.string(), z.number()]),
  payload: z.unknown().optional(),
  vector: z.unknown().optional(),
})

/** Ids are compared as text; those of digits alone go to the server as numbers. */
function asId(id: string): string | number {
  return /^\d+$/.test(id) ? Number(id) : id
}

function readPoints(given: unknown): Point[] {
  return z
    .array(z.unknown())
    .parse(given)
    .flatMap((each) => {
      const point = pointSchema.safeParse(each)
      if (!point.success) return []
      const { id, payload, vector } = point.data
      return [{ id: String(id), payload: readPayload(payload) ?? {}, vector: readVector(vector) }]
    })
}

/** Vectors may come as JSON, as payloads do. */
function readVector(given: unknown): Float32Array | null {
  const value = typeof given === 'string' ? parsedNumbers(given) : given
  const numbers = z.array(z.number()).safeParse(value)
  return numbers.success ? Float32Array.from(numbers.data) : null
}

function parsedNumbers(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
