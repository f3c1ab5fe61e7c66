import { z } from 'zod'
import { DoubleError } from './double-server.ts'
import { normalised, type Point, type PointStore, readId } from './point-store.ts'

export type Collection = { size: number; distance: string; points: PointStore }
type Style = { texts?: boolean }

const done = { operation_id: 1, status: 'Completed' }
const ids = z.array(z.unknown())
const payload = z.record(z.string(), z.unknown())
const point = z.object({
  id: z.unknown().optional(),
  vector: z.array(z.number()),
  payload: payload.nullish(),
})
const shown = {
  with_payload: z.boolean().default(true),
  with_vector: z.boolean().default(false),
}
const searchSchema = z.object({
  vector: z.array(z.number()),
  limit: z.number().int().positive(),
  offset: z.number().int().nonnegative().default(0),
  score_threshold: z.number().nullish(),
  filter: z.unknown().optional(),
  params: z.unknown().optional(),
  ...shown,
})
const scrollSchema = z.object({
  limit: z.number().int().positive().default(10),
  offset: z.unknown().optional(),
  filter: z.unknown().optional(),
  ...shown,
})
const someSchema = z.object({ points: ids.nullish(), filter: z.unknown().optional() })

export function parse<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body)
  if (!parsed.success) throw new DoubleError(400, `bad request: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

type Operation = (collection: Collection, body: unknown, style: Style) => unknown

export const operations: Record<string, Operation> = {
  'GET ': ({ size, distance, points }) => ({
    status: 'Green',
    points_count: points.size,
    config: { params: { vectors: { size, distance } } },
  }),
  'PATCH ': () => true,
  'PUT points': (collection, body) => {
    for (const each of parse(z.object({ points: z.array(point) }), body).points) {
      const id = readId(each.id)
      const dense = { '': normalised(each.vector, collection.size) }
      collection.points.put({ id, dense, sparse: {}, payload: each.payload ?? {} })
    }
    return done
  },
  'POST points': ({ points }, body, style) => {
    const { ids: wanted, ...how } = parse(z.object({ ids, ...shown }), body)
    return wanted.flatMap((id) => {
      const found = points.get(id)
      return found ? [show(found, how, style)] : []
    })
  },
  one: ({ points }, id, style) => {
    const found = points.get(/^\d+$/.test(String(id)) ? Number(id) : id)
    if (!found) throw new DoubleError(404, `Point ${id} not found`)
    return show(found, { with_payload: true, with_vector: true }, style)
  },
  'POST points/search': search,
  'POST points/search/batch': (collection, body, style) =>
    parse(z.object({ searches: z.array(z.unknown()) }), body).searches.map((one) =>
      search(collection, one, style),
    ),
  'POST points/query': (collection, body, style) => {
    const { query, ...rest } = parse(z.looseObject({ query: z.array(z.number()) }), body)
    return search(collection, { limit: 10, ...rest, vector: query }, style)
  },
  'POST points/scroll': ({ points }, body, style) => {
    const { filter, offset, limit, ...how } = parse(scrollSchema, body)
    const page = points.page(filter, offset, limit)
    return {
      points: page.points.map((each) => show(each, how, style)),
      next_page_offset: page.next,
    }
  },
  'POST points/count': ({ points }, body) => ({
    count: points.matching(parse(z.object({ filter: z.unknown().optional() }), body).filter).length,
  }),
  'POST points/delete': ({ points }, body) => {
    // What is not there is passed over; there is no delete by filter.
    for (const id of parse(z.object({ points: ids }), body).points) points.delete(id)
    return done
  },
  'POST points/payload': ({ points }, body) => {
    const given = parse(someSchema.extend({ payload }), body)
    for (const each of some(points, given)) each.payload = { ...each.payload, ...given.payload }
    return done
  },
  'PUT points/payload': ({ points }, body) => {
    const given = parse(someSchema.extend({ payload }), body)
    for (const each of some(points, given)) each.payload = { ...given.payload }
    return done
  },
  'POST points/payload/delete': ({ points }, body) => {
    const given = parse(someSchema.extend({ keys: z.array(z.string()) }), body)
    for (const each of some(points, given)) for (const key of given.keys) delete each.payload[key]
    return done
  },
  'POST points/payload/clear': ({ points }, body) => {
    for (const each of some(points, parse(someSchema, body))) each.payload = {}
    return done
  },
  'PUT points/vectors': ({ points, size }, body) => {
    const given = parse(z.object({ points: z.array(point.omit({ payload: true })) }), body)
    for (const { id, vector } of given.points) {
      const found = points.get(id)
      if (!found) throw new DoubleError(404, `Point ${id} not found`)
      found.dense = { '': normalised(vector, size) }
    }
    return done
  },
}

function search({ points, size }: Collection, body: unknown, style: Style) {
  const { vector, limit, offset, score_threshold, filter, ...how } = parse(searchSchema, body)
  return points
    .nearest('', normalised(vector, size), filter)
    .filter(({ score }) => score >= (score_threshold ?? Number.NEGATIVE_INFINITY))
    .slice(offset, offset + limit)
    .map(({ point: found, score }) => ({ ...show(found, how, style), version: 1, score }))
}

function some(points: PointStore, given: z.infer<typeof someSchema>): Point[] {
  if (given.points) return given.points.flatMap((id) => points.get(id) ?? [])
  if (given.filter === undefined) throw new DoubleError(400, 'either points or filter is needed')
  return points.matching(given.filter)
}

function show(
  { id, payload: kept, dense }: Point,
  { with_payload, with_vector }: { with_payload: boolean; with_vector: boolean },
  { texts }: Style,
) {
  const vector = [...(dense[''] ?? [])]
  const written = (value: unknown) => (texts ? JSON.stringify(value) : value)
  return {
    id,
    ...(with_payload ? { payload: written(kept) } : {}),
    ...(with_vector ? { vector: written(vector) } : {}),
  }
}
