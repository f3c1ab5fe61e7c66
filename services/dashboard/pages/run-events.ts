import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { runIdSchema } from '../../../shared/contracts/ids.ts'
import { connectOrFail } from '../../../shared/queue/connection.ts'
import { isRedisFault } from '../../../shared/queue/redis-fault.ts'
import type { Deps } from '../deps.ts'
import { EVENT_ID } from '../runs/read-events.ts'
import { readRun } from '../runs/read-run.ts'
import { tellRun } from '../runs/tell-run.ts'

/** Each has a connection to Redis of its own. */
const MAX_STREAMS = 40

/**
 * GET /runs/:id/events: a run's rows as they come, as Server-Sent Events. It goes on after
 * `Last-Event-ID`, or `after`, and ends with the run.
 */
export const runEventsPage = (deps: Deps) => {
  let open = 0
  return async (c: Context) => {
    const id = runIdSchema.safeParse(c.req.param('id'))
    if (!id.success || !(await readRun(deps, id.data, null))) return c.notFound()
    if (open >= MAX_STREAMS) {
      c.header('retry-after', '10')
      return c.text('too many live pages are open; close some, or reload for the state of now', 503)
    }
    const given = c.req.header('last-event-id') ?? c.req.query('after') ?? '0'
    const cursor = EVENT_ID.test(given) ? given : '0'
    open += 1
    return streamSSE(c, async (stream) => {
      // A blocking read holds up everything else on its connection.
      const redis = connectOrFail(deps.config.redis)
      redis.on('error', () => {})
      stream.onAbort(() => redis.disconnect())
      try {
        await tellRun({ ...deps, redis }, stream, id.data, cursor)
      } catch (error) {
        // The browser comes back by itself and goes on where it was.
        if (!stream.aborted && !isRedisFault(error)) throw error
      } finally {
        redis.disconnect()
        open -= 1
      }
    })
  }
}
