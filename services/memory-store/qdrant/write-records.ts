import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { v5 as uuidv5 } from 'uuid'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import { UnavailableError } from '../../../shared/errors.ts'
import {
  type Counter,
  type RecordVectors,
  type Revocable,
  receiptId,
  type UpsertOutcome,
} from '../backend.ts'
import { type Condition, has } from '../points/live-filter.ts'
import { isPointId } from '../points/point-id.ts'
import {
  countPayload,
  keptState,
  NONE,
  type Payload,
  recordPayload,
  revocation,
  succession,
} from '../points/record-payload.ts'
import type { Qdrant } from './qdrant-client.ts'
import { pointVectors } from './record-point.ts'

/**
 * Every write gives its point a new `revision`, and a write that builds on what it read is made for
 * that revision alone. `writers` tells such a writer that it was the one, when others wrote since.
 */
const WRITERS_KEPT = 32
const MAX_TRIES = 50

/** Through the leader of a cluster: conditions are looked at in one place. */
const durable = { wait: true, ordering: 'strong' } as const
/** A read that builds on a write does not take the word of one late replica. */
const settled = { consistency: 'majority' } as const

export async function upsertRecord(
  qdrant: Qdrant,
  record: MemoryRecord,
  vectors: RecordVectors,
): Promise<UpsertOutcome> {
  const owner = await claimReceipt(qdrant, record)
  if (owner !== record.memory_id) return { status: 'receipt_used', memory_id: owner }
  const vector = pointVectors(record, vectors)
  const id = record.memory_id
  await change(qdrant, id, async (before, stamp, unchanged) => {
    const payload = { ...recordPayload(record), ...(before && keptState(before)), ...stamp }
    const condition = before
      ? ({ update_mode: 'update_only', update_filter: { must: unchanged } } as const)
      : ({ update_mode: 'insert_only' } as const)
    const points = [{ id, vector, payload }]
    await qdrant.ask((client) =>
      client.upsert(qdrant.collection, { points, ...condition, ...durable }),
    )
    return true
  })
  return { status: 'stored' }
}

/**
 * The id of the record that the receipt belongs to. The first insert of the receipt's own point
 * stays, whoever else inserts it. Claim and record are two writes: between them the receipt is
 * taken and nothing is stored, until the same store is repeated.
 */
async function claimReceipt(
  { ask, collection }: Qdrant,
  { receipt, memory_id }: MemoryRecord,
): Promise<string> {
  if (!receipt) return memory_id
  const receipt_id = receiptId(receipt)
  const id = uuidv5(receipt_id, uuidv5.URL)
  const payload = { kind: 'receipt', receipt_id, memory_id }
  const points = [{ id, vector: {}, payload }]
  await ask((client) =>
    client.upsert(collection, { points, update_mode: 'insert_only', ...durable }),
  )
  const [claimed] = await ask((client) => client.retrieve(collection, { ids: [id], ...settled }))
  if (!claimed) throw new UnavailableError('the claim of a receipt has not reached all replicas')
  return String(claimed.payload?.memory_id)
}

export async function addTo(
  qdrant: Qdrant,
  id: string,
  added: { counter: Counter; key: string | undefined; by: number },
): Promise<void> {
  await change(qdrant, id, async (before, stamp, unchanged) => {
    const counted = before && countPayload(before, added)
    if (!counted) return false
    const payload = { ...counted, ...stamp }
    const filter = { must: [{ has_id: [id] }, ...unchanged] }
    await qdrant.ask((client) =>
      client.setPayload(qdrant.collection, { payload, filter, ...durable }),
    )
    return true
  })
}

/**
 * Reads a point, lets `write` write it for that revision alone, and begins anew when it came too
 * late. Nothing was to be written when it says false.
 */
async function change(
  { ask, collection }: Qdrant,
  id: string,
  write: (before: Payload | undefined, stamp: Payload, unchanged: Condition[]) => Promise<boolean>,
): Promise<void> {
  const writer = randomUUID()
  const read = async () => {
    const [point] = await ask((client) => client.retrieve(collection, { ids: [id], ...settled }))
    return point
  }
  let before = await read()
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const known = writersOf(before?.payload)
    const stamp = { revision: writer, writers: [writer, ...known].slice(0, WRITERS_KEPT) }
    const unchanged = [has('revision', String(before?.payload?.revision))]
    if (!(await write(before?.payload ?? undefined, stamp, unchanged))) return
    before = await read()
    if (writersOf(before?.payload).includes(writer)) return
    await setTimeout(Math.random() * 20)
  }
  throw new UnavailableError(`memory ${id} is being written by too many at once`)
}

function writersOf(payload: Payload | null | undefined): unknown[] {
  return Array.isArray(payload?.writers) ? payload.writers : []
}

const notRevoked = has('revoked_at', NONE)

export async function setRevoked(
  qdrant: Qdrant,
  which: Revocable,
  at: string | null,
): Promise<number> {
  const named = 'memory_id' in which ? which.memory_id : null
  if (named !== null && !isPointId(named)) return 0
  const chosen = Object.entries(which).map(([key, value]) => has(key, value))
  return setForAll(qdrant, revocation({ revoked_at: at }), {
    must: [has('kind', 'record'), ...chosen, ...(at === null ? [] : [notRevoked])],
    must_not: at === null ? [notRevoked] : [],
  })
}

export async function supersede(
  qdrant: Qdrant,
  memoryIds: readonly string[],
  by: string | null,
): Promise<number> {
  const has_id = memoryIds.filter(isPointId)
  if (has_id.length === 0) return 0
  return setForAll(qdrant, succession({ superseded_by: by }), {
    must: [has('kind', 'record'), { has_id }],
    must_not: [has('superseded_by', by ?? NONE)],
  })
}

/** Sets a part of the payload of all that fit, and says how many did. */
async function setForAll(
  { ask, collection }: Qdrant,
  changes: Payload,
  filter: { must: Condition[]; must_not?: Condition[] },
): Promise<number> {
  const revision = randomUUID()
  const payload = { ...changes, revision }
  await ask((client) => client.setPayload(collection, { payload, filter, ...durable }))
  const { count } = await ask((client) =>
    client.count(collection, { filter: { must: [has('revision', revision)] }, exact: true }),
  )
  return count
}
