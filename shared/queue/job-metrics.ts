import { type Job, UnrecoverableError } from 'bullmq'
import { jobSpec, type QueueName } from '../contracts/catalog.ts'
import type { jobOutcomes } from '../contracts/metrics.ts'
import { count, observe } from '../metrics.ts'

export type JobOutcome = (typeof jobOutcomes)[number]

/** Whether a fault ends the job or only this try of it. */
export function failureOf(error: unknown, job: Job): 'retried' | 'failed' {
  const isLast = job.attemptsMade + 1 >= (job.opts.attempts ?? 1)
  return isLast || error instanceof UnrecoverableError ? 'failed' : 'retried'
}

/** A name that is in no catalog came from outside: it may not become a label. */
export const labelOf = (queue: QueueName, job: Job) =>
  jobSpec(queue, job.name) ? job.name : 'unknown'

export function observeTry(queue: QueueName, job: Job, outcome: JobOutcome, ms: number): void {
  observe('astra_job_duration_seconds', { queue, job: labelOf(queue, job), outcome }, ms / 1000)
  if (outcome === 'retried') count('astra_job_retries_total', { queue })
  if (outcome === 'postponed') count('astra_job_postponements_total', { queue })
}

/**
 * How long a job waited for a worker. Of a parent nobody knows when its children were done, and of a
 * later try what it waited for, so those are left out.
 */
export function observeWait(queue: QueueName, job: Job, hadChildren: boolean): void {
  if (hadChildren || job.attemptsStarted > 1 || job.processedOn === undefined) return
  const ms = job.processedOn - job.timestamp - (job.opts.delay ?? 0)
  observe('astra_job_wait_seconds', { queue, job: labelOf(queue, job) }, Math.max(0, ms) / 1000)
}
