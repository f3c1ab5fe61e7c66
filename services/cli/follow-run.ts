import type { Redis } from 'ioredis'
import { type RunRequest, runDeduplication, startJobId } from '../../shared/contracts/run.ts'
import {
  type RunEvent,
  type RunView,
  readRunEvents,
  readRunView,
} from '../../shared/contracts/run-view.ts'
import { AstraError, UnavailableError } from '../../shared/errors.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import type { Producer } from '../../shared/queue/producer.ts'
import { isRedisFault } from '../../shared/queue/redis-fault.ts'
import type { Services } from './with-services.ts'

/** How long one wait for an event may take; the view is looked at in between. */
const BLOCK_MS = 250
/** A private Redis that was killed is back within seconds. */
const REDIS_AWAY_MS = 20_000

/** Adds the run's first job, in its repository's turn. Repeating it is harmless. */
export async function startRun(producer: Producer, request: RunRequest): Promise<void> {
  const { repository_id: repositoryId, priority } = request
  await producer.add('runs', 'start', request, {
    jobId: startJobId(request.run_id),
    deduplication: runDeduplication(request.run_id),
    priority: await producer.fairPriority('runs', { repositoryId, priority }),
  })
}

export function hasEnded(view: RunView): boolean {
  return view.status !== 'queued' && view.status !== 'running'
}

/**
 * Waits until the run has ended and returns its last view; tells its events from the first on.
 * Events are hints that may be lost: only the view decides. Throws when Redis stays away, when the
 * run could not be begun, or at Ctrl-C.
 */
export async function followRun(
  { config, producer, interrupted }: Services,
  runId: string,
  onEvent: (event: RunEvent) => void,
): Promise<RunView> {
  // A connection of its own: a blocking read holds up everything else on it.
  const redis = connectOrFail(config.redis)
  redis.on('error', () => {})
  try {
    let cursor = '0'
    let awaySince: number | null = null
    for (;;) {
      interrupted.throwIfAborted()
      try {
        const step = await look(redis, runId, cursor, onEvent)
        if (step.view && hasEnded(step.view)) return step.view
        if (!step.view) await throwIfNotBegun(producer, runId)
        cursor = step.cursor
        awaySince = null
      } catch (error) {
        if (!isRedisFault(error)) throw error
        awaySince ??= Date.now()
        if (Date.now() - awaySince > REDIS_AWAY_MS) throw redisAway(runId, error)
      }
    }
  } finally {
    redis.disconnect()
  }
}

async function look(
  redis: Redis,
  runId: string,
  cursor: string,
  onEvent: (event: RunEvent) => void,
): Promise<{ view: RunView | null; cursor: string }> {
  const view = await readRunView(redis, runId)
  const wait = view && hasEnded(view) ? 1 : BLOCK_MS
  const next = await readRunEvents(redis, runId, cursor, wait)
  for (const event of next.events) onEvent(event)
  return { view, cursor: next.cursor }
}

/** A start job that failed for good leaves no view that could say so. */
async function throwIfNotBegun(producer: Producer, runId: string): Promise<void> {
  const job = await producer.queue('runs').getJob(startJobId(runId))
  if (job && (await job.isFailed())) {
    throw new AstraError('run_not_begun', `run ${runId} could not be begun: ${job.failedReason}`)
  }
}

function redisAway(runId: string, cause: unknown): UnavailableError {
  return new UnavailableError('Redis went away while the run was followed', {
    hint: `nothing is lost: go on with \`astra watch ${runId}\``,
    cause,
  })
}
