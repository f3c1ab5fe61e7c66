import type { Redis } from 'ioredis'
import { type RunEvent, runEventSchema, runEventsKey } from '../../../shared/contracts/run-view.ts'

/** An event with its id in the stream. */
export type PlacedEvent = { id: string; event: RunEvent }

/** The ids that a stream of Redis gives. */
export const EVENT_ID = /^\d{1,20}-\d{1,20}$/

/** All events up to `upTo`, or to the last one. */
export async function readEvents(
  redis: Redis,
  runId: string,
  upTo: string | null = null,
): Promise<PlacedEvent[]> {
  return (await redis.xrange(runEventsKey(runId), '-', upTo ?? '+')).map(placed)
}

/** Events after `cursor`; waits up to `blockMs` for the first. */
export async function nextEvents(
  redis: Redis,
  runId: string,
  cursor: string,
  blockMs: number,
): Promise<PlacedEvent[]> {
  const reply = await redis.xread('BLOCK', blockMs, 'STREAMS', runEventsKey(runId), cursor)
  return (reply?.[0]?.[1] ?? []).map(placed)
}

/** Of an event that another version wrote the text is shown, when it has one. */
function placed([id, fields]: [string, string[]]): PlacedEvent {
  const value: unknown = JSON.parse(fields[1] ?? 'null')
  const parsed = runEventSchema.safeParse(value)
  if (parsed.success) return { id, event: parsed.data }
  const at = new Date(Number(id.split('-')[0])).toISOString()
  const text = value instanceof Object && 'text' in value ? String(value.text) : 'unreadable event'
  return { id, event: { type: 'note', at, text } }
}
