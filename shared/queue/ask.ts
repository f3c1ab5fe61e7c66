import type { FlowJob } from 'bullmq'
import { type JobName, jobSpec, type QueueName, type Result } from '../contracts/catalog.ts'
import { AstraError, UnavailableError } from '../errors.ts'
import type { Producer } from './producer.ts'

/**
 * Adds a job (or a flow) and polls its state until it ended. The job's own state is the truth:
 * queue events can be lost.
 */
export async function ask<Q extends QueueName, J extends JobName<Q>>(
  producer: Producer,
  flow: FlowJob & { queueName: Q; name: J },
  options: { timeoutMs: number },
): Promise<Result<Q, J>> {
  const queue = producer.queue(flow.queueName)
  const id = flow.opts?.jobId
  if (!id) throw new Error('ask needs a job id')
  await producer.addFlowOnce(flow)
  const deadline = Date.now() + options.timeoutMs
  for (let pause = 10; Date.now() < deadline; pause = Math.min(pause * 1.5, 250)) {
    const state = await queue.getJobState(id)
    // Read after the state: a job that was read before it ended has no result yet.
    const job = await queue.getJob(id)
    if (job && state === 'completed') {
      return jobSpec(flow.queueName, flow.name)?.result.parse(job.returnvalue) as Result<Q, J>
    }
    if (job && state === 'failed') {
      throw new AstraError('job_failed', `${flow.queueName}/${flow.name}: ${job.failedReason}`)
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  throw new UnavailableError(
    `no answer to ${flow.queueName}/${flow.name} within ${options.timeoutMs / 1000} s`,
    { hint: 'is the service running? `astra doctor` tells' },
  )
}
