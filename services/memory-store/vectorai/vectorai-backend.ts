import { type MemoryBackend, receiptId } from '../backend.ts'
import { allInTurn, oneAtATime } from '../points/one-at-a-time.ts'
import { isPointId } from '../points/point-id.ts'
import { reachedOnce } from '../points/reached-once.ts'
import { requireUnitVector } from '../unit-vector.ts'
import { openCollection } from './collection.ts'
import { ensureCollection } from './ensure-collection.ts'
import { countLive, findCandidates } from './find-candidates.ts'
import { connectHttp, type VectoraiOptions } from './http.ts'
import {
  countOfRepository,
  getRecord,
  listRecords,
  scanRecords,
  supersededBy,
} from './read-records.ts'
import {
  addTo,
  deleteRecord,
  revocableIds,
  setRevoked,
  supersede,
  upsertRecord,
} from './write-records.ts'

/**
 * A collection of an Actian VectorAI DB, which the tutorial's program may share. Its calls throw
 * UnavailableError while the server is away, and MemoryDatabaseError when the database is not ours
 * to use.
 *
 * The server can make no write depend on what is there. Within this process writes to one record
 * wait for each other; of two processes that write the same record at the same moment, one can undo
 * a count, a revocation or a successor of the other. Receipts are safe: see claim-receipt.ts.
 */
export function createVectoraiBackend(
  options: VectoraiOptions & { dimensions: number },
): MemoryBackend & { reach(): Promise<void> } {
  const { dimensions, collection: name } = options
  const http = connectHttp(options)
  const collection = openCollection(http, name)
  const reach = reachedOnce(() => ensureCollection(http, name, dimensions))
  const inTurn = oneAtATime()

  return {
    reach,
    async upsert(record, vectors) {
      requireUnitVector('symptom', vectors.symptom, dimensions)
      requireUnitVector('fix', vectors.fix, dimensions)
      await reach()
      const upsert = () => upsertRecord(collection, record, vectors)
      const claim = record.receipt ? `receipt ${receiptId(record.receipt)}` : 'none'
      return inTurn(record.memory_id, () => (record.receipt ? inTurn(claim, upsert) : upsert()))
    },
    async candidates(query) {
      for (const vector of query.vectors) requireUnitVector('query', vector, dimensions)
      await reach()
      return findCandidates(collection, query)
    },
    async countLive(filter) {
      await reach()
      return countLive(collection, filter)
    },
    async countOfRepository(repositoryId) {
      await reach()
      return countOfRepository(collection, repositoryId)
    },
    async count(memoryIds, counter, key, by = 1) {
      await reach()
      const ids = memoryIds.filter(isPointId)
      await Promise.all(
        ids.map((id) => inTurn(id, () => addTo(collection, id, { counter, key, by }))),
      )
    },
    async setRevoked(which, at) {
      await reach()
      const ids = await revocableIds(collection, which)
      return allInTurn(inTurn, ids, () => setRevoked(collection, ids, at))
    },
    async supersede(memoryIds, by) {
      await reach()
      const ids = memoryIds.filter(isPointId)
      return allInTurn(inTurn, ids, () => supersede(collection, ids, by))
    },
    async supersededBy(memoryId) {
      await reach()
      return supersededBy(collection, memoryId)
    },
    async get(memoryId) {
      await reach()
      return isPointId(memoryId) ? getRecord(collection, memoryId) : null
    },
    async list(page) {
      await reach()
      return listRecords(collection, page)
    },
    async scan(after, limit, { vectors } = { vectors: false }) {
      await reach()
      return scanRecords(collection, after, limit, vectors)
    },
    async delete(memoryId) {
      await reach()
      return isPointId(memoryId)
        ? inTurn(memoryId, () => deleteRecord(collection, memoryId))
        : false
    },
    async close() {
      http.close()
    },
  }
}
