import { z } from 'zod'
import { DoubleError } from './double-server.ts'
import { type PointId, readFilter } from './point-filter.ts'
import { normalised, type Point, type PointStore, readId, type Sparse } from './point-store.ts'

type VectorParams = { size: number; distance: string }
export type Collection = {
  vectors: VectorParams | Record<string, VectorParams>
  sparse_vectors: Record<string, unknown>
  indexes: Map<string, unknown>
  points: PointStore
}

export const vectorParams = z.object({ size: z.number().int().positive(), distance: z.string() })
const upsertSchema = z.object({
  points: z.array(
    z.object({
      id: z.unknown().optional(),
      vector: z.unknown().optional(),
      payload: z.record(z.string(), z.unknown()).nullish(),
    }),
  ),
  update_mode: z.enum(['upsert', 'insert_only', 'update_only']).nullish(),
  update_filter: z.unknown().optional(),
})
const payloadSchema = z.object({
  payload: z.record(z.string(), z.unknown()),
  points: z.array(z.unknown()).nullish(),
  filter: z.unknown().optional(),
})
const sparseSchema = z.strictObject({ indices: z.array(z.number()), values: z.array(z.number()) })

const updated = { operation_id: 1, status: 'completed' }

export function parse<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body)
  if (!parsed.success) throw new DoubleError(400, `Format error: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

export const operations: Record<string, (collection: Collection, body: unknown) => unknown> = {
  'GET ': ({ vectors, sparse_vectors, points, indexes }) => ({
    status: 'green',
    points_count: points.size,
    config: { params: { vectors, sparse_vectors, shard_number: 1, replication_factor: 1 } },
    payload_schema: Object.fromEntries(indexes),
  }),
  'PUT index': ({ indexes }, body) => {
    const index = parse(z.object({ field_name: z.string(), field_schema: z.unknown() }), body)
    indexes.set(index.field_name, { data_type: index.field_schema })
    return updated
  },
  'PUT points': upsert,
  'POST points': ({ points }, body) => {
    const { ids, ...shown } = parse(z.object({ ids: z.array(z.unknown()), ...shownFields }), body)
    return ids.flatMap((id) => {
      const point = points.get(id)
      return point ? [show(point, shown)] : []
    })
  },
  'POST points/query': query,
  'POST points/query/batch': (collection, body) =>
    parse(z.object({ searches: z.array(z.unknown()) }), body).searches.map((one) =>
      query(collection, one),
    ),
  'POST points/scroll': scroll,
  'POST points/count': ({ points }, body) => ({
    count: points.matching(parse(z.object({ filter: z.unknown().optional() }), body).filter).length,
  }),
  'POST points/payload': ({ points }, body) => {
    const given = parse(payloadSchema, body)
    for (const point of selected(points, given)) {
      for (const [key, value] of Object.entries(given.payload)) {
        if (value === null) delete point.payload[key]
        else point.payload[key] = value
      }
    }
    return updated
  },
  'POST points/delete': ({ points }, body) => {
    const given = parse(
      z.object({ points: z.array(z.unknown()).nullish(), filter: z.unknown().optional() }),
      body,
    )
    for (const { id } of selected(points, given)) points.delete(id)
    return updated
  },
}

const shownFields = {
  with_payload: z.union([z.boolean(), z.array(z.string())]).nullish(),
  with_vector: z.union([z.boolean(), z.array(z.string())]).nullish(),
}
const shownSchema = z.object(shownFields)
type Shown = z.infer<typeof shownSchema>

function show({ id, payload, dense, sparse }: Point, { with_payload, with_vector }: Shown) {
  const vector: Record<string, unknown> = { ...sparse }
  for (const [name, values] of Object.entries(dense)) vector[name] = [...values]
  const only = <T>(all: Record<string, T>, which: boolean | string[] | null | undefined) =>
    which === true
      ? all
      : Object.fromEntries(
          Object.entries(all).filter(([key]) => Array.isArray(which) && which.includes(key)),
        )
  return {
    id,
    ...(with_payload === false ? {} : { payload: only(payload, with_payload ?? true) }),
    ...(with_vector ? { vector: only(vector, with_vector) } : {}),
  }
}

function selected(
  points: PointStore,
  given: { points?: unknown[] | null | undefined; filter?: unknown },
): Point[] {
  if (given.points) return given.points.flatMap((id) => points.get(id) ?? [])
  if (given.filter === undefined) throw new DoubleError(400, 'either points or filter is needed')
  return points.matching(given.filter)
}

function upsert(collection: Collection, body: unknown) {
  const { points, update_mode, update_filter } = parse(upsertSchema, body)
  const read = points.map(({ id, vector, payload }) => ({
    id: readId(id),
    ...readVectors(collection, vector),
    payload: payload ?? {},
  }))
  const mayUpdate = readFilter(update_filter)
  for (const point of read) {
    const there = collection.points.get(point.id)
    if (there && update_mode === 'insert_only') continue
    if (!there && update_mode === 'update_only') continue
    if (there && !mayUpdate(there)) continue
    collection.points.put(point)
  }
  return updated
}

function readVectors({ vectors, sparse_vectors }: Collection, given: unknown) {
  const dense: Record<string, Float32Array> = {}
  const sparse: Record<string, Sparse> = {}
  const named = Array.isArray(given) ? { '': given } : (given as Record<string, unknown>)
  for (const [name, value] of Object.entries(named ?? {})) {
    const params = paramsOf(vectors, name)
    if (name in sparse_vectors) sparse[name] = parse(sparseSchema, value)
    else if (params) dense[name] = normalised(value, params.size)
    else throw new DoubleError(400, `Wrong input: Not existing vector name error: ${name}`)
  }
  return { dense, sparse }
}

function paramsOf(vectors: Collection['vectors'], name: string): VectorParams | undefined {
  const single = vectorParams.safeParse(vectors)
  if (single.success) return name === '' ? single.data : undefined
  return (vectors as Record<string, VectorParams>)[name]
}

function query(collection: Collection, body: unknown) {
  const given = parse(
    z.object({
      query: z.unknown().optional(),
      using: z.string().default(''),
      filter: z.unknown().optional(),
      limit: z.number().int().positive().default(10),
      ...shownFields,
    }),
    body,
  )
  const { using, filter, limit } = given
  const params = paramsOf(collection.vectors, using)
  if (!params && !(using in collection.sparse_vectors)) {
    throw new DoubleError(400, `Wrong input: Not existing vector name error: ${using}`)
  }
  const hits = params
    ? collection.points.nearest(using, normalised(given.query, params.size), filter)
    : collection.points.bySparse(using, parse(sparseSchema, given.query), filter)
  const shown = { ...given, with_payload: given.with_payload ?? false }
  const points = hits
    .slice(0, limit)
    .map(({ point, score }) => ({ ...show(point, shown), version: 1, score }))
  return { points }
}

function scroll({ points, indexes }: Collection, body: unknown) {
  const { limit, offset, order_by, filter, ...shown } = parse(
    z.object({
      limit: z.number().int().positive().default(10),
      offset: z.unknown().optional(),
      order_by: z.strictObject({ key: z.string(), direction: z.enum(['asc', 'desc']) }).optional(),
      filter: z.unknown().optional(),
      ...shownFields,
    }),
    body,
  )
  if (!order_by) {
    const { points: page, next } = points.page(filter, offset, limit)
    return {
      points: page.map((each) => show(each, shown)),
      next_page_offset: next as PointId | null,
    }
  }
  if (!indexes.has(order_by.key)) {
    throw new DoubleError(
      400,
      `Bad request: No range index for \`order_by\` key: \`${order_by.key}\``,
    )
  }
  const sign = order_by.direction === 'asc' ? 1 : -1
  const ordered = points
    .matching(filter)
    .filter(({ payload }) => typeof payload[order_by.key] === 'number')
    .sort((a, b) => sign * (Number(a.payload[order_by.key]) - Number(b.payload[order_by.key])))
  return {
    points: ordered.slice(0, limit).map((each) => show(each, shown)),
    next_page_offset: null,
  }
}
