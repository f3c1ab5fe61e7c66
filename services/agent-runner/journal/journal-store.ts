import type { Redis } from 'ioredis'
import { isMarkedCancelled, markCancelled } from '../../../shared/contracts/cancellation.ts'
import {
  type RunEvent,
  type RunView,
  runEventsKey,
  runInboxKey,
  runJournalKey,
  runsIndexKey,
  runViewKey,
  unfinishedRunsKey,
} from '../../../shared/contracts/run-view.ts'
import type { InboxEntry } from './entries.ts'
import {
  type Entry,
  type Journal,
  type KeyedKind,
  parseEntry,
  readJournal,
  type SingleKind,
} from './journal.ts'

/** How long the keys of an ended run stay; its transcript and patch stay on disk. */
const KEEP_SECONDS = 30 * 24 * 3600

/**
 * Writes an entry only if the field is new, and its event with it: after a crash the two cannot
 * differ, and a worker that was taken over cannot overwrite what its successor decided.
 * KEYS: journal or inbox, events. ARGV: field, entry, event ('' for none).
 */
const APPEND = `
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
if ARGV[3] ~= '' then redis.call('XADD', KEYS[2], 'MAXLEN', '~', 5000, '*', 'event', ARGV[3]) end
return 1
`

/**
 * Replaces a run's view, unless it says that the run goes on and the journal knows that it has ended: a
 * worker that was frozen, replaced and woken up would put an old view over the last one.
 * KEYS: journal, view, index. ARGV: view, '1' for an ended run, created at (ms), run id.
 */
const PUBLISH = `
if ARGV[2] == '0' and redis.call('HEXISTS', KEYS[1], 'end') == 1 then return 0 end
redis.call('SET', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[4])
return 1
`

export type RunEventContent = Omit<RunEvent, 'at'>

export type JournalStore = {
  load(runId: string): Promise<Journal>
  /** True when this call wrote it, false when it was there. */
  append<K extends SingleKind>(
    runId: string,
    kind: K,
    entry: Entry<K>,
    event?: RunEventContent,
  ): Promise<boolean>
  appendKeyed<K extends KeyedKind>(
    runId: string,
    kind: K,
    key: string,
    entry: Entry<K>,
    event?: RunEventContent,
  ): Promise<boolean>
  /** Puts a job's result into the run's inbox, once. */
  deliver(runId: string, key: string, entry: InboxEntry, event?: RunEventContent): Promise<boolean>
  publish(view: RunView): Promise<void>
  /** Tells everybody who works for the run that it was cancelled. Repeating it is harmless. */
  markCancelled(runId: string): Promise<void>
  isCancelled(runId: string): Promise<boolean>
  /** Ids of the runs that have not ended. */
  unfinished(): Promise<string[]>
  /** The run has ended: nobody needs to wake it any more. Repeating it is harmless. */
  retire(runId: string): Promise<void>
}

export function createJournalStore(redis: Redis): JournalStore {
  async function write(
    hash: string,
    runId: string,
    field: string,
    entry: unknown,
    event?: RunEventContent,
  ) {
    const line = event ? JSON.stringify({ ...event, at: new Date().toISOString() }) : ''
    const keys = [hash, runEventsKey(runId)]
    const wrote = await redis.eval(APPEND, keys.length, ...keys, field, JSON.stringify(entry), line)
    return wrote === 1
  }

  return {
    async load(runId) {
      const [fields, inbox] = await Promise.all([
        redis.hgetall(runJournalKey(runId)),
        redis.hgetall(runInboxKey(runId)),
      ])
      return readJournal(fields, inbox)
    },
    async append(runId, kind, entry, event) {
      // Listed before it is journalled: a crash in between leaves a run that the sweeper looks at.
      if (kind === 'start') await redis.sadd(unfinishedRunsKey, runId)
      return write(runJournalKey(runId), runId, kind, parseEntry(kind, entry), event)
    },
    appendKeyed: (runId, kind, key, entry, event) =>
      write(runJournalKey(runId), runId, `${kind}/${key}`, parseEntry(kind, entry), event),
    deliver: (runId, key, entry, event) => write(runInboxKey(runId), runId, key, entry, event),
    async publish(view) {
      const { run_id, status, created_at } = view
      const keys = [runJournalKey(run_id), runViewKey(run_id), runsIndexKey]
      const ended = status === 'running' ? '0' : '1'
      const args = [JSON.stringify(view), ended, Date.parse(created_at), run_id]
      await redis.eval(PUBLISH, keys.length, ...keys, ...args)
    },
    markCancelled: (runId) => markCancelled(redis, runId),
    isCancelled: (runId) => isMarkedCancelled(redis, runId),
    unfinished: () => redis.smembers(unfinishedRunsKey),
    async retire(runId) {
      const keys = [
        runJournalKey(runId),
        runInboxKey(runId),
        runEventsKey(runId),
        runViewKey(runId),
      ]
      const commands = redis.multi().srem(unfinishedRunsKey, runId)
      for (const key of keys) commands.expire(key, KEEP_SECONDS)
      await commands.exec()
    },
  }
}
