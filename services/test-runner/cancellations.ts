import type { Redis } from 'ioredis'
import { cancelledChannel, isMarkedCancelled } from '../../shared/contracts/cancellation.ts'
import { errorText } from '../../shared/errors.ts'
import type { Logger } from '../../shared/logger.ts'
import { JobCancelled } from '../../shared/queue/consumer.ts'

/** How often the marks of runs under test are looked at: a message may have been lost. */
const LOOK_EVERY_MS = 2_000

export type Cancellations = {
  /**
   * Does work for a run unless that is cancelled, and aborts it when that happens meanwhile. Throws
   * JobCancelled then: tests that were stopped so have no verdict and are not repeated.
   */
  unlessCancelled<T>(
    runId: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  close(): void
}

type UnderTest = { runId: string; abort: AbortController }

/** Hears of cancelled runs by messages, and by their marks where a message did not come through. */
export async function watchCancellations(redis: Redis, log: Logger): Promise<Cancellations> {
  const underTest = new Set<UnderTest>()

  function stop(runId: string): void {
    for (const each of underTest) {
      if (each.runId === runId) each.abort.abort(new JobCancelled(`run ${runId} was cancelled`))
    }
  }

  async function look(): Promise<void> {
    const runIds = new Set([...underTest].map(({ runId }) => runId))
    for (const runId of runIds) if (await isMarkedCancelled(redis, runId)) stop(runId)
  }

  function lookOrWarn(): void {
    look().catch((error) => log.warn({ error: errorText(error) }, 'marks of runs not readable'))
  }

  const timer = setInterval(lookOrWarn, LOOK_EVERY_MS)
  timer.unref()
  // A connection that listens can do nothing else. After a loss it subscribes again by itself.
  const subscriber = redis.duplicate()
  subscriber.on('error', (error) => log.warn({ error: errorText(error) }, 'listening failed'))
  subscriber.on('ready', lookOrWarn)
  subscriber.on('message', (_channel, runId) => stop(runId))
  await subscriber.subscribe(cancelledChannel)

  return {
    async unlessCancelled(runId, signal, work) {
      const each = { runId, abort: new AbortController() }
      underTest.add(each)
      try {
        // After it was added: a cancel that comes now is heard, one that came before left its mark.
        if (await isMarkedCancelled(redis, runId)) stop(runId)
        const both = AbortSignal.any([signal, each.abort.signal])
        both.throwIfAborted()
        return await work(both)
      } finally {
        underTest.delete(each)
      }
    },
    close() {
      clearInterval(timer)
      subscriber.disconnect()
    },
  }
}
