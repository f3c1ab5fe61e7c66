import { setTimeout as sleep } from 'node:timers/promises'
import { forgetRun } from '../../shared/blobs/published-run.ts'
import type { Config } from '../../shared/config.ts'
import { markCancelled } from '../../shared/contracts/cancellation.ts'
import { jobIdOf } from '../../shared/contracts/ids.ts'
import type { Verification } from '../../shared/contracts/tests.ts'
import { AstraError } from '../../shared/errors.ts'
import { ask } from '../../shared/queue/ask.ts'
import { flowJob } from '../../shared/queue/producer.ts'
import { InterruptError, unlessAborted } from './interrupt.ts'
import { type ServiceHost, type Services, withServices } from './with-services.ts'

export type VerificationQuestion = {
  /** The run whose folder holds snapshot and patch. */
  runId: string
  repositoryId: string
  /** null: the first that the workspace offers. */
  command: string | null
  patch: string
  pathEnv: string
}

/** Beside the four runs: making the copies, waiting behind other runs, a test-runner that was killed. */
const BESIDES_MS = 10 * 60_000
/** How long ended tests may take to be gone. */
const ENDING_MS = 10_000

/**
 * Starts the services and has a patch verified, with all test runs made anew. At Ctrl-C the tests are
 * ended before the services are let go.
 */
export async function verifyInServices(
  host: ServiceHost,
  config: Config,
  note: (line: string) => void,
  prepare: (services: Services) => Promise<VerificationQuestion>,
): Promise<Verification> {
  const starting = new AbortController()
  const { interrupted } = host
  const stop = () => starting.abort(interrupted.reason)
  interrupted.addEventListener('abort', stop, { once: true })
  const patient = { ...host, interrupted: starting.signal }
  return withServices(config, patient, note, async (services) => {
    // From here on the connection is kept through a Ctrl-C: it is what ends the tests.
    interrupted.removeEventListener('abort', stop)
    const question = await prepare(services)
    try {
      interrupted.throwIfAborted()
      return await askVerification(services, question, interrupted)
    } finally {
      // It goes by itself too, only later.
      if (services.blobs) await forgetRun(services.blobs, question.runId).catch(() => {})
    }
  })
}

async function askVerification(
  { config, redis, producer }: Services,
  { runId, repositoryId, command, patch, pathEnv }: VerificationQuestion,
  interrupted: AbortSignal,
): Promise<Verification> {
  const payload = { run_id: runId, path_env: pathEnv, command, patch, fresh: true }
  const jobId = jobIdOf('verify', runId)
  const flow = flowJob('tests', 'verify', payload, jobId)
  const priority = await producer.fairPriority('tests', { repositoryId, priority: 'normal' })
  const placed = { ...flow, queueName: 'tests' as const, name: 'verify' as const }
  const answer = ask(
    producer,
    { ...placed, opts: { ...flow.opts, priority } },
    { timeoutMs: 4 * config.ASTRA_TEST_SECONDS * 1000 + BESIDES_MS },
  )
  try {
    return await unlessAborted(answer, interrupted)
  } catch (error) {
    const hasEnded = error instanceof AstraError && error.code === 'job_failed'
    if (!hasEnded) {
      await markCancelled(redis, runId)
      const waited = await producer.queue('tests').remove(jobId)
      if (waited === 0) await Promise.race([answer.catch(() => {}), sleep(ENDING_MS)])
    }
    if (error instanceof InterruptError) throw new InterruptError('the tests were ended')
    throw error
  }
}
