import type { Redis } from 'ioredis'
import { z } from 'zod'
import { runIdSchema } from '../../../shared/contracts/ids.ts'
import {
  runEventsKey,
  runInboxKey,
  runJournalKey,
  runsIndexKey,
  runViewKey,
} from '../../../shared/contracts/run-view.ts'

const statusSchema = z.looseObject({ status: z.string() })
const hash = z.record(z.string(), z.string())

/** What Redis keeps of a run that has ended: one line of the part, as Redis has it. */
export const keptRunSchema = z.strictObject({
  run_id: runIdSchema,
  /** Time in ms, by which the newest runs are listed first. */
  listed: z.number(),
  /** Time in ms at which Redis forgets it; null: it had not been told to yet. */
  expires: z.number().nullable(),
  view: z.string(),
  journal: hash,
  inbox: hash,
  /** Ids and texts of its events, in their order. */
  events: z.array(z.tuple([z.string(), z.string()])),
})
export type KeptRun = z.infer<typeof keptRunSchema>

/** The runs that have ended, the newest first. One that goes on is in no backup: nobody would go on with it. */
export async function* readEndedRuns(redis: Redis): AsyncGenerator<KeptRun> {
  const listed = await redis.zrevrange(runsIndexKey, 0, -1, 'WITHSCORES')
  for (let i = 0; i < listed.length; i += 2) {
    const run = await readRun(redis, listed[i] ?? '', Number(listed[i + 1]))
    if (run) yield run
  }
}

async function readRun(redis: Redis, run_id: string, listed: number): Promise<KeptRun | null> {
  const view = await redis.get(runViewKey(run_id))
  if (view === null || !tellsOfAnEnd(view)) return null
  const [journal, inbox, events, left] = await Promise.all([
    redis.hgetall(runJournalKey(run_id)),
    redis.hgetall(runInboxKey(run_id)),
    redis.xrange(runEventsKey(run_id), '-', '+'),
    redis.pttl(runViewKey(run_id)),
  ])
  return {
    run_id,
    listed,
    expires: left < 0 ? null : Date.now() + left,
    view,
    journal,
    inbox,
    events: events.map(([id, fields]) => [id, fields[1] ?? 'null']),
  }
}

/** No more is asked of a view, so that one of another version stops no backup. */
function tellsOfAnEnd(view: string): boolean {
  const { status } = statusSchema.parse(JSON.parse(view))
  return status !== 'queued' && status !== 'running'
}

/** Puts a run where this Redis does not know it; false when it does, or when its time is over. */
export async function writeEndedRun(redis: Redis, run: KeptRun, now: Date): Promise<boolean> {
  const { run_id, listed, expires, view, journal, inbox, events } = run
  if (expires !== null && expires <= now.getTime()) return false
  if ((await redis.exists(runViewKey(run_id), runJournalKey(run_id))) > 0) return false
  const commands = redis.multi().set(runViewKey(run_id), view).zadd(runsIndexKey, listed, run_id)
  if (Object.keys(journal).length > 0) commands.hset(runJournalKey(run_id), journal)
  if (Object.keys(inbox).length > 0) commands.hset(runInboxKey(run_id), inbox)
  for (const [id, text] of events) commands.xadd(runEventsKey(run_id), id, 'event', text)
  // A run that had ended and was not retired would be kept for ever: nobody retires it here.
  const until = expires ?? now.getTime() + KEEP_MS
  for (const key of [runViewKey, runJournalKey, runInboxKey, runEventsKey]) {
    commands.pexpireat(key(run_id), until)
  }
  for (const [error] of (await commands.exec()) ?? []) if (error) throw error
  return true
}

/** As an agent-runner keeps an ended run. */
const KEEP_MS = 30 * 24 * 3600 * 1000
