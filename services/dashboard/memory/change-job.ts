import { randomUUID } from 'node:crypto'
import type { Job } from 'bullmq'
import { jobSpec, type Result } from '../../../shared/contracts/catalog.ts'
import { jobIdOf } from '../../../shared/contracts/ids.ts'
import { revokePayloadSchema } from '../../../shared/contracts/memory-lifecycle.ts'
import { AstraError, errorText, UnavailableError } from '../../../shared/errors.ts'
import { ask } from '../../../shared/queue/ask.ts'
import { flowJob } from '../../../shared/queue/producer.ts'
import type { Deps } from '../deps.ts'
import { ANSWER_MS } from './ask-store.ts'
import type { Notice } from './notices.ts'

/** What people change about a record: a job, which waits while the memory-store is away. */
export const changeNames = ['revoke', 'restore'] as const
export type ChangeName = (typeof changeNames)[number]

export type ChangeState =
  /** Nobody has begun it: it can be taken back. */
  | { kind: 'waits'; name: ChangeName; asked: Date }
  | { kind: 'begun'; name: ChangeName }
  | { kind: 'done'; notice: Notice | null }
  | { kind: 'failed'; why: string }
  /** It was taken back, or is older than jobs are kept. */
  | { kind: 'gone' }

type Access = Pick<Deps, 'producer'>

/** Asks for a change, and waits a little for it. The id is that of its job. */
export async function requestChange(
  { producer }: Access,
  name: ChangeName,
  memoryId: string,
): Promise<{ id: string; state: ChangeState }> {
  const id = jobIdOf(name, randomUUID())
  const job = flowJob('memory', name, { which: { memory_id: memoryId } }, id)
  try {
    const result = await ask(
      producer,
      { ...job, queueName: 'memory', name },
      { timeoutMs: ANSWER_MS },
    )
    return { id, state: { kind: 'done', notice: noticeOf(result) } }
  } catch (error) {
    if (error instanceof UnavailableError) {
      return { id, state: await readChange({ producer }, memoryId, id) }
    }
    if (error instanceof AstraError) return { id, state: { kind: 'failed', why: errorText(error) } }
    throw error
  }
}

/** How a change of this record stands. */
export async function readChange(
  { producer }: Access,
  memoryId: string,
  id: string,
): Promise<ChangeState> {
  const job = await producer.queue('memory').getJob(id)
  const name = changeNames.find((each) => each === job?.name)
  if (!job || !name || !isAbout(job, memoryId)) return { kind: 'gone' }
  const state = await job.getState()
  switch (state) {
    case 'completed': {
      // Read again: what was read before it ended has no result yet.
      const ended = await producer.queue('memory').getJob(id)
      const result = jobSpec('memory', name)?.result.parse(ended?.returnvalue)
      return { kind: 'done', notice: noticeOf(result as Result<'memory', ChangeName>) }
    }
    case 'failed':
      return { kind: 'failed', why: job.failedReason }
    case 'unknown':
      return { kind: 'gone' }
    case 'active':
      return { kind: 'begun', name }
    default:
      return { kind: 'waits', name, asked: new Date(job.timestamp) }
  }
}

/**
 * Takes a change back that nobody has begun. BullMQ would remove one that was done meanwhile as well,
 * so it is taken out of what waits first, which either we can do or a memory-store.
 */
export async function withdrawChange(
  { producer, redis }: Pick<Deps, 'producer' | 'redis'>,
  memoryId: string,
  id: string,
): Promise<boolean> {
  const queue = producer.queue('memory')
  const job = await queue.getJob(id)
  if (!job || !isAbout(job, memoryId)) return false
  const taken =
    (await redis.lrem(queue.toKey('wait'), 1, id)) + (await redis.zrem(queue.toKey('delayed'), id))
  if (taken === 0) return false
  await job.remove()
  return true
}

function isAbout({ data }: Job, memoryId: string): boolean {
  const { data: payload } = revokePayloadSchema.safeParse(data)
  return (
    payload !== undefined && 'memory_id' in payload.which && payload.which.memory_id === memoryId
  )
}

/** Null: there is no such record. */
function noticeOf(result: Result<'memory', ChangeName>): Notice | null {
  if (result.found === 0) return null
  if (!('superseded' in result)) return result.changed === 0 ? 'was-revoked' : 'revoked'
  if (result.changed === 0) return 'was-live'
  return result.superseded.length > 0 ? 'superseded' : 'restored'
}
