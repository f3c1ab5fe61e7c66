import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { ListPage, ScanPage } from '../backend.ts'
import { listConditions } from '../points/list-conditions.ts'
import { has } from '../points/live-filter.ts'
import { isPointId } from '../points/point-id.ts'
import { readRecord } from '../points/record-payload.ts'
import type { Qdrant } from './qdrant-client.ts'
import { readVectors } from './record-point.ts'

const records = has('kind', 'record')

/** One record stands for the near-duplicates of one failure: more than some dozens are not real. */
const MAX_SUPERSEDED = 10_000

export async function getRecord({ ask, collection }: Qdrant, id: string) {
  if (!isPointId(id)) return null
  const [point] = await ask((client) => client.retrieve(collection, { ids: [id] }))
  return point?.payload?.kind === 'record' ? readRecord(point.payload) : null
}

export async function countOfRepository(
  { ask, collection }: Qdrant,
  repositoryId: string,
): Promise<number> {
  const filter = { must: [records, has('repository_id', repositoryId)] }
  return (await ask((client) => client.count(collection, { filter, exact: true }))).count
}

export async function supersededBy(
  { ask, collection }: Qdrant,
  memoryId: string,
): Promise<string[]> {
  const filter = { must: [records, has('superseded_by', memoryId)] }
  const { points } = await ask((client) =>
    client.scroll(collection, { filter, limit: MAX_SUPERSEDED, with_payload: false }),
  )
  return points.map(({ id }) => String(id))
}

/** Orders ids alone, so that a late page reads no records of earlier ones. */
export async function listRecords(
  { ask, collection }: Qdrant,
  { limit, offset, ...filter }: ListPage,
): Promise<{ records: MemoryRecord[]; total: number }> {
  const conditions = listConditions(filter)
  const must = [records, ...conditions.must]
  const asked = { filter: { ...conditions, must } }
  const { count } = await ask((client) => client.count(collection, { ...asked, exact: true }))
  const { points: ordered } = await ask((client) =>
    client.scroll(collection, {
      ...asked,
      limit: offset + limit,
      order_by: { key: 'confirmed_ms', direction: 'desc' },
      with_payload: false,
    }),
  )
  const ids = ordered.slice(offset).map(({ id }) => String(id))
  if (ids.length === 0) return { records: [], total: count }
  const points = await ask((client) => client.retrieve(collection, { ids }))
  const byId = new Map(points.map(({ id, payload }) => [String(id), payload]))
  return { records: ids.flatMap((id) => readRecord(byId.get(id) ?? {}) ?? []), total: count }
}

/** In the order of their ids: what is stored meanwhile may come before or after the page. */
export async function scanRecords(
  { ask, collection }: Qdrant,
  after: string | null,
  limit: number,
  vectors: boolean,
): Promise<ScanPage> {
  const { points, next_page_offset } = await ask((client) =>
    client.scroll(collection, {
      filter: { must: [records] },
      limit,
      ...(after === null ? {} : { offset: after }),
      with_payload: true,
      with_vector: vectors ? ['symptom', 'fix'] : false,
    }),
  )
  return {
    entries: points.map(({ id, payload, vector }) => ({
      memory_id: String(id),
      session_id: String(payload?.session_id ?? ''),
      record: readRecord(payload ?? {}),
      vectors: vectors ? readVectors(vector) : null,
    })),
    next: typeof next_page_offset === 'string' ? next_page_offset : null,
  }
}

export async function deleteRecord(qdrant: Qdrant, id: string): Promise<boolean> {
  const { ask, collection } = qdrant
  if (!isPointId(id)) return false
  const filter = { must: [records, { has_id: [id] }] }
  const { count } = await ask((client) => client.count(collection, { filter, exact: true }))
  if (count === 0) return false
  await ask((client) => client.delete(collection, { filter, wait: true, ordering: 'strong' }))
  return true
}
