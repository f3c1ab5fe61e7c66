import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { z } from 'zod'
import {
  type JobName,
  jobSpec,
  type Payload,
  type QueueName,
  type Result,
} from '../contracts/catalog.ts'
import { AstraError, errorText } from '../errors.ts'
import { inTraceOf, queueTelemetry, span } from '../tracing.ts'
import { KEY_PREFIX } from './connection.ts'
import { noteTaken } from './fair-share.ts'
import { failureOf, type JobOutcome, labelOf, observeTry, observeWait } from './job-metrics.ts'
import { reportWork } from './work-in-hand.ts'

/** What a child job left for its parent: its result, or why there is none. */
export type ChildOutcome = { ok: true; value: unknown } | { ok: false; error: string }

/** The work is not wanted any more: the job ends for good, and that is no fault. */
export class JobCancelled extends UnrecoverableError {}

/** What the job needs is away: it is begun anew after some time, as often as it takes. */
export class JobPostponed extends Error {
  readonly delayMs: number
  constructor(message: string, options: { delayMs: number; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.delayMs = options.delayMs
  }
}

export type JobContext = {
  jobId: string
  /** No further try follows: what fails now has to be written down, not thrown. */
  lastAttempt: boolean
  /** How often the job was begun before, tries and postponements together. */
  begunBefore: number
  /** The outcomes of the job's children, in no order. A job has one child or none here. */
  children(): Promise<ChildOutcome[]>
  /** Aborts when the process shuts down or the job's lock is lost: another worker has it then. */
  signal: AbortSignal
  log: Logger
}

/** May run twice for one job (a stalled worker), so its effects must be idempotent. */
export type Handler<Q extends QueueName, J extends JobName<Q>> = (
  payload: Payload<Q, J>,
  context: JobContext,
) => Promise<Result<Q, J>>

export type Handlers<Q extends QueueName> = { [J in JobName<Q>]: Handler<Q, J> }

export type Consumer = { close(deadlineMs: number): Promise<void> }

/**
 * Takes the jobs of one queue. The payload is parsed here again: one that does not fit fails for
 * good at once, with ids in the log and no contents.
 */
export function consume<Q extends QueueName>(
  queue: Q,
  handlers: Handlers<Q>,
  options: { redis: Redis; log: Logger; concurrency: number },
): Consumer {
  const shutdown = new AbortController()
  const running = new Map<string, AbortController>()
  const { concurrency } = options
  const unreport = reportWork(queue, () => ({ concurrency, in_hand: running.size }))

  const worker = new Worker(
    queue,
    async (job, token) => {
      const lost = new AbortController()
      running.set(String(job.id), lost)
      const started = performance.now()
      let outcome: JobOutcome = 'completed'
      try {
        const signal = AbortSignal.any([shutdown.signal, lost.signal])
        await advanceShare(queue, job, options)
        const attributes = { 'astra.attempt': job.attemptsStarted }
        return await inTraceOf(job.data, () =>
          span(`${queue} ${labelOf(queue, job)}`, attributes, () =>
            handle(queue, handlers, job, options.log, signal),
          ),
        )
      } catch (error) {
        outcome = outcomeOf(error, job, shutdown.signal.aborted)
        if (error instanceof JobPostponed) {
          await job.moveToDelayed(Date.now() + error.delayMs, token)
          throw new DelayedError()
        }
        if (!shutdown.signal.aborted) throw error
        // Cut off by the shutdown, which is no fault of the job: another worker has it at once.
        await job.moveToWait(token)
        throw new WaitingError()
      } finally {
        running.delete(String(job.id))
        observeTry(queue, job, outcome, performance.now() - started)
      }
    },
    {
      connection: options.redis,
      prefix: KEY_PREFIX,
      ...queueTelemetry(),
      concurrency,
      // A killed worker's jobs are taken over within about 15 s; the defaults take up to a minute.
      lockDuration: 10_000,
      stalledInterval: 5_000,
      // A stall is a crash of ours, not a fault of the job: `attempts` decides about the job.
      maxStalledCount: 100,
    },
  )
  worker.on('error', rateLimited(options.log))
  worker.on('lockRenewalFailed', (ids) => {
    for (const id of ids) running.get(id)?.abort(new Error('lost the lock of this job'))
  })

  let closing: Promise<void> | undefined
  return {
    close(deadlineMs) {
      closing ??= closeWithin(worker, shutdown, deadlineMs).finally(unreport)
      return closing
    },
  }
}

function outcomeOf(error: unknown, job: Job, isShuttingDown: boolean): JobOutcome {
  if (error instanceof JobPostponed) return 'postponed'
  if (isShuttingDown) return 'handed_back'
  return error instanceof JobCancelled ? 'cancelled' : failureOf(error, job)
}

/** A turn that was not noted is made good by the next one: it must not cost the job a try. */
async function advanceShare(
  queue: QueueName,
  { id, priority }: Job,
  { redis, log }: { redis: Redis; log: Logger },
): Promise<void> {
  if (id === undefined || priority === 0) return
  try {
    await noteTaken(redis, queue, { id, priority })
  } catch (error) {
    log.warn({ queue, jobId: id, error: errorText(error) }, 'fair share not advanced')
  }
}

async function handle<Q extends QueueName>(
  queue: Q,
  handlers: Handlers<Q>,
  job: Job,
  parentLog: Logger,
  signal: AbortSignal,
): Promise<unknown> {
  const started = performance.now()
  const log = parentLog.child({
    queue,
    job: job.name,
    jobId: job.id,
    attempt: job.attemptsMade + 1,
    ...(typeof job.data?.run_id === 'string' && { runId: job.data.run_id }),
  })
  const spec = jobSpec(queue, job.name)
  if (!spec) throw new UnrecoverableError(`no job ${job.name} on queue ${queue}`)
  const payload = spec.payload.safeParse(job.data)
  if (!payload.success) {
    log.error(
      { issues: payload.error.issues.map((issue) => issue.path.join('.')) },
      'payload refused',
    )
    throw new UnrecoverableError(
      `payload of ${queue}/${job.name} does not fit: ${z.prettifyError(payload.error)}`,
    )
  }
  const handler = handlers[job.name as JobName<Q>] as Handler<Q, JobName<Q>>
  let hadChildren = false
  const children = async () => {
    const outcomes = await childOutcomes(job)
    hadChildren ||= outcomes.length > 0
    return outcomes
  }
  try {
    const result = await handler(payload.data as Payload<Q, JobName<Q>>, {
      jobId: String(job.id),
      lastAttempt: job.attemptsMade + 1 >= spec.attempts,
      begunBefore: job.attemptsStarted - 1,
      children,
      signal,
      log,
    })
    log.info({ ms: Math.round(performance.now() - started) }, 'done')
    return spec.result.parse(result)
  } catch (error) {
    const ms = Math.round(performance.now() - started)
    if (error instanceof JobCancelled) log.info({ ms, why: error.message }, 'cancelled')
    else if (error instanceof JobPostponed) log.warn({ ms, error: errorText(error) }, 'postponed')
    else log.error({ ms, err: error }, 'failed')
    throw withHint(error)
  } finally {
    observeWait(queue, job, hadChildren)
  }
}

/** Of a failed job only the message reaches whoever asked: what to do has to stand in it. */
function withHint(error: unknown): unknown {
  if (!(error instanceof AstraError) || error.hint === undefined) return error
  return new Error(`${error.message}; ${error.hint}`, { cause: error })
}

async function childOutcomes(job: Job): Promise<ChildOutcome[]> {
  const [values, failures] = await Promise.all([
    job.getChildrenValues(),
    job.getIgnoredChildrenFailures(),
  ])
  return [
    ...Object.values(values).map((value): ChildOutcome => ({ ok: true, value })),
    ...Object.values(failures).map((error): ChildOutcome => ({ ok: false, error })),
  ]
}

/** An idle worker emits thousands of errors a second while Redis refuses: one line in 5 s is enough. */
function rateLimited(log: Logger): (error: Error) => void {
  let last = 0
  let dropped = 0
  return (error) => {
    const now = Date.now()
    if (now - last < 5000) {
      dropped += 1
      return
    }
    log.warn({ dropped, error: errorText(error) }, 'queue connection error')
    last = now
    dropped = 0
  }
}

/** How long aborted jobs may take to be handed back; what is not is found by its stall later. */
const HAND_BACK_MS = 2_000

/** Stops taking jobs, lets the running ones end, and after the deadline aborts and hands them back. */
async function closeWithin(
  worker: Worker,
  shutdown: AbortController,
  deadlineMs: number,
): Promise<void> {
  const abort = setTimeout(() => shutdown.abort(new Error('shutting down')), deadlineMs)
  const force = setTimeout(() => void worker.close(true), deadlineMs + HAND_BACK_MS)
  try {
    await worker.close()
  } finally {
    clearTimeout(abort)
    clearTimeout(force)
  }
}
