import type { Redis } from 'ioredis'
import type { QueueName } from '../contracts/catalog.ts'
import { type RunPriority, runPrioritySchema } from '../contracts/run.ts'
import { KEY_PREFIX } from './connection.ts'
import { ASSIGN, TAKE } from './fair-share-scripts.ts'

/** Whose work a job is and how urgent. */
export type Share = { repositoryId: string; priority: RunPriority }

/** Each class has a third of BullMQ's priorities (1 to 2,097,151): all of one come before all of the next. */
const BAND = 699_050
/** The tags of a band; 0 is for jobs that were taken before and have to be tried again. */
const LAST_TAG = BAND - 1

/**
 * The BullMQ priority of a new job: start-time fair queuing. Each job gets the tag after its
 * repository's last one, or after the queue's virtual time where that is later; the lowest tag goes
 * first. So a repository's first waiting job comes next in turn, however many another has waiting.
 */
export async function fairPriority(redis: Redis, queue: QueueName, share: Share): Promise<number> {
  const first = firstOf(runPrioritySchema.options.indexOf(share.priority))
  const clock = clockKey(queue, share.priority)
  const keys = [jobKey(queue, 'prioritized'), clock, `${clock}:last`]
  const args = [first, LAST_TAG, jobKey(queue, ''), share.repositoryId]
  const tag = await redis.eval(ASSIGN, keys.length, ...keys, ...args)
  return first + Number(tag)
}

/**
 * Advances the virtual time to a job that was taken. Tried again, it goes to the front of its class:
 * it had its turn.
 */
export async function noteTaken(
  redis: Redis,
  queue: QueueName,
  job: { id: string; priority: number },
): Promise<void> {
  const index = Math.floor((job.priority - 1) / BAND)
  const priority = runPrioritySchema.options[index]
  if (!priority) return
  const keys = [jobKey(queue, 'prioritized'), clockKey(queue, priority)]
  const args = [firstOf(index), LAST_TAG, jobKey(queue, ''), job.id, job.priority]
  await redis.eval(TAKE, keys.length, ...keys, ...args)
}

const firstOf = (index: number) => index * BAND + 1
const jobKey = (queue: QueueName, id: string) => `${KEY_PREFIX}:${queue}:${id}`
const clockKey = (queue: QueueName, priority: RunPriority) =>
  `${KEY_PREFIX}:share:${queue}:${priority}`
