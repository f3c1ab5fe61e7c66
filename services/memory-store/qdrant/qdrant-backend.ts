import type { MemoryBackend } from '../backend.ts'
import { oneAtATime } from '../points/one-at-a-time.ts'
import { isPointId } from '../points/point-id.ts'
import { reachedOnce } from '../points/reached-once.ts'
import { requireUnitVector } from '../unit-vector.ts'
import { ensureCollection } from './ensure-collection.ts'
import { countLive, findCandidates } from './find-candidates.ts'
import { connectQdrant, type QdrantOptions } from './qdrant-client.ts'
import {
  countOfRepository,
  deleteRecord,
  getRecord,
  listRecords,
  scanRecords,
  supersededBy,
} from './read-records.ts'
import { addTo, setRevoked, supersede, upsertRecord } from './write-records.ts'

/**
 * A collection of a Qdrant server or cluster: a point with two vectors and the words for each
 * record. Its calls throw UnavailableError while the server is away, and MemoryDatabaseError when
 * the collection has another shape.
 */
export function createQdrantBackend(
  options: QdrantOptions & { dimensions: number },
): MemoryBackend & { reach(): Promise<void> } {
  const { dimensions } = options
  const qdrant = connectQdrant(options)
  const reach = reachedOnce(() => ensureCollection(qdrant, dimensions))
  const inTurn = oneAtATime()

  return {
    reach,
    async upsert(record, vectors) {
      requireUnitVector('symptom', vectors.symptom, dimensions)
      requireUnitVector('fix', vectors.fix, dimensions)
      await reach()
      return inTurn(record.memory_id, () => upsertRecord(qdrant, record, vectors))
    },
    async candidates(query) {
      for (const vector of query.vectors) requireUnitVector('query', vector, dimensions)
      await reach()
      return findCandidates(qdrant, query)
    },
    async countLive(filter) {
      await reach()
      return countLive(qdrant, filter)
    },
    async countOfRepository(repositoryId) {
      await reach()
      return countOfRepository(qdrant, repositoryId)
    },
    async count(memoryIds, counter, key, by = 1) {
      await reach()
      const ids = memoryIds.filter(isPointId)
      await Promise.all(ids.map((id) => inTurn(id, () => addTo(qdrant, id, { counter, key, by }))))
    },
    async setRevoked(which, at) {
      await reach()
      return setRevoked(qdrant, which, at)
    },
    async supersede(memoryIds, by) {
      await reach()
      return supersede(qdrant, memoryIds, by)
    },
    async supersededBy(memoryId) {
      await reach()
      return supersededBy(qdrant, memoryId)
    },
    async get(memoryId) {
      await reach()
      return getRecord(qdrant, memoryId)
    },
    async list(page) {
      await reach()
      return listRecords(qdrant, page)
    },
    async scan(after, limit, { vectors } = { vectors: false }) {
      await reach()
      return scanRecords(qdrant, after, limit, vectors)
    },
    async delete(memoryId) {
      await reach()
      return deleteRecord(qdrant, memoryId)
    },
    async close() {
      qdrant.close()
    },
  }
}
