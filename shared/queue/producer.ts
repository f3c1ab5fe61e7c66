import { type FlowJob, FlowProducer, type JobsOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { type JobName, jobSpec, type Payload, type QueueName } from '../contracts/catalog.ts'
import { inTraceOf, queueTelemetry } from '../tracing.ts'
import { KEY_PREFIX } from './connection.ts'
import { fairPriority, type Share } from './fair-share.ts'

/** Kept for a day, so that a result can be read late and a repeated add is recognised. */
const retention = { age: 24 * 3600, count: 20_000 }

/** The parsed payload and the options of a job, as the catalog has them. Throws ZodError. */
export function prepare<Q extends QueueName, J extends JobName<Q>>(
  queue: Q,
  name: J,
  payload: Payload<Q, J>,
): { data: unknown; opts: JobsOptions } {
  const spec = jobSpec(queue, name)
  if (!spec) throw new Error(`no job ${name} on queue ${queue}`)
  return {
    data: spec.payload.parse(payload),
    opts: {
      attempts: spec.attempts,
      backoff: { type: 'exponential', delay: spec.backoffMs },
      removeOnComplete: retention,
      removeOnFail: retention,
    },
  }
}

/** One job of a flow. A failed child reaches its parent as a value instead of holding it for ever. */
export function flowJob<Q extends QueueName, J extends JobName<Q>>(
  queue: Q,
  name: J,
  payload: Payload<Q, J>,
  jobId: string,
  children: FlowJob[] = [],
): FlowJob {
  const { data, opts } = prepare(queue, name, payload)
  return {
    queueName: queue,
    name,
    data,
    prefix: KEY_PREFIX,
    opts: { ...opts, jobId },
    children: children.map((child) => ({
      ...child,
      opts: { ...child.opts, ignoreDependencyOnFailure: true },
    })),
  }
}

/** The adding side of all queues, on one connection. */
export type Producer = {
  queue(name: QueueName): Queue
  add<Q extends QueueName, J extends JobName<Q>>(
    queue: Q,
    name: J,
    payload: Payload<Q, J>,
    options?: Pick<JobsOptions, 'jobId' | 'deduplication' | 'priority'>,
  ): Promise<void>
  /** Adds a flow unless its root is there already: re-adding a failed child would hang the parent. */
  addFlowOnce(flow: FlowJob & { opts?: JobsOptions }): Promise<void>
  /** The priority of a new job of that queue, by which repositories take turns. */
  fairPriority(queue: QueueName, share: Share): Promise<number>
  close(): Promise<void>
}

export function createProducer(redis: Redis): Producer {
  const queues = new Map<QueueName, Queue>()
  const flows = new FlowProducer({ connection: redis, prefix: KEY_PREFIX, ...queueTelemetry() })

  function queue(name: QueueName): Queue {
    let found = queues.get(name)
    if (!found) {
      found = new Queue(name, {
        connection: redis,
        prefix: KEY_PREFIX,
        streams: { events: { maxLen: 2000 } },
        ...queueTelemetry(),
      })
      // BullMQ prints what nobody listens to; a command that fails of it tells its caller anyhow.
      found.on('error', () => {})
      queues.set(name, found)
    }
    return found
  }

  return {
    queue,
    async add(queueName, name, payload, options = {}) {
      const { data, opts } = prepare(queueName, name, payload)
      await inTraceOf(data, () => queue(queueName).add(name, data, { ...opts, ...options }))
    },
    async addFlowOnce(flow) {
      const id = flow.opts?.jobId
      if (id && (await queue(flow.queueName as QueueName).getJob(id))) return
      await inTraceOf(flow.data, () => flows.add(flow))
    },
    fairPriority: (queueName, share) => fairPriority(redis, queueName, share),
    async close() {
      await Promise.all([...queues.values()].map((each) => each.close()))
      await flows.close()
    },
  }
}
