import type { QueueName } from '../contracts/catalog.ts'

/** What one consumer of this process may do at once, and what it does right now. */
export type WorkInHand = { concurrency: number; in_hand: number }

const consumers = new Map<QueueName, () => WorkInHand>()

/** Tells this process's heartbeat of a consumer, until the returned function is called. */
export function reportWork(queue: QueueName, read: () => WorkInHand): () => void {
  consumers.set(queue, read)
  return () => {
    if (consumers.get(queue) === read) consumers.delete(queue)
  }
}

/** The queues that this process takes jobs of. */
export function workInHand(): Partial<Record<QueueName, WorkInHand>> {
  return Object.fromEntries([...consumers].map(([queue, read]) => [queue, read()]))
}
