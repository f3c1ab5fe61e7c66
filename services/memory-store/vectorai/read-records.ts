import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { ListPage, ScanPage } from '../backend.ts'
import { fitsList } from '../list-filter.ts'
import { has } from '../points/live-filter.ts'
import { readRecord } from '../points/record-payload.ts'
import type { Collection } from './collection.ts'
import { notMain, withVectors } from './record-points.ts'
import { mainPoint } from './write-records.ts'

export async function getRecord(collection: Collection, id: string): Promise<MemoryRecord | null> {
  const point = await mainPoint(collection, id)
  return point && readRecord(point.payload)
}

export function countOfRepository(collection: Collection, repositoryId: string): Promise<number> {
  return collection.count({ must: [has('repository_id', repositoryId)], must_not: notMain })
}

export async function supersededBy(collection: Collection, memoryId: string): Promise<string[]> {
  const must = [has('superseded_by', memoryId)]
  return (await collection.all({ must, must_not: notMain })).map(({ id }) => id)
}

/** Reads all records to order them, as the server does not: they are 2,500 in the free edition. */
export async function listRecords(
  collection: Collection,
  { limit, offset, ...filter }: ListPage,
): Promise<{ records: MemoryRecord[]; total: number }> {
  const { session_id, ...others } = filter
  const must = session_id === null ? [] : [has('session_id', session_id)]
  const points = await collection.all({ must, must_not: notMain })
  const records = points
    .flatMap(({ payload }) => readRecord(payload) ?? [])
    .filter((record) => fitsList(record, others))
    .sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
  return { records: records.slice(offset, offset + limit), total: records.length }
}

/** In the order of their ids: what is stored meanwhile may come before or after the page. */
export async function scanRecords(
  collection: Collection,
  after: string | null,
  limit: number,
  vectors: boolean,
): Promise<ScanPage> {
  const page = { offset: after, limit, with_vector: vectors }
  const { points, next } = await collection.scroll({ must_not: notMain }, page)
  const stored = vectors ? await withVectors(collection, points) : []
  return {
    entries: points.map(({ id, payload }, i) => ({
      memory_id: id,
      session_id: String(payload.session_id ?? ''),
      record: readRecord(payload),
      vectors: stored[i]?.vectors ?? null,
    })),
    next,
  }
}
