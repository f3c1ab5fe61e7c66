import type { SSEStreamingApi } from 'hono/streaming'
import type { Deps } from '../deps.ts'
import { nextEvents, type PlacedEvent, readEvents } from './read-events.ts'
import { limitsIn, type RunState, readRun } from './read-run.ts'
import { runHead } from './run-head.ts'
import { runOutcome } from './run-outcome.ts'
import { hasEnded } from './status-badge.ts'
import { createTimeline, type Timeline } from './timeline.ts'

/** How long one wait for an event takes; the run's view is looked at in between. */
const BLOCK_MS = 1000
const HEARTBEAT_MS = 15_000
/** How soon a browser asks again after a stream has broken off. */
const RETRY_MS = 2000

/** Tells a run's events after `from` as they come, until the run has ended or the reader is gone. */
export async function tellRun(
  deps: Pick<Deps, 'redis' | 'producer' | 'now'>,
  stream: SSEStreamingApi,
  runId: string,
  from: string,
): Promise<void> {
  const before = from === '0' ? [] : await readEvents(deps.redis, runId, from)
  const timeline = createTimeline()
  for (const event of before) await timeline.add(event)
  const told = new Map<string, string>()
  const heartbeat = createHeartbeat(stream, deps.now)
  let limits = limitsIn(before)
  let cursor = from
  await stream.write(`retry: ${RETRY_MS}\n\n`)
  while (!stream.aborted) {
    const state = await readRun(deps, runId, limits)
    if (!state) return
    const ended = hasEnded(state.view)
    const events = await nextEvents(deps.redis, runId, cursor, ended ? 1 : BLOCK_MS)
    limits ??= limitsIn(events)
    cursor = events.at(-1)?.id ?? cursor
    await tellRows(stream, timeline, events)
    const changed = await tellPieces(stream, told, { ...state, limits }, timeline)
    if (ended && events.length === 0) return stream.writeSSE({ event: 'end', data: '' })
    await heartbeat(events.length > 0 || changed)
  }
}

/** Only the last row of an event bears its id: who resumes there has seen all of them. */
async function tellRows(stream: SSEStreamingApi, timeline: Timeline, events: PlacedEvent[]) {
  for (const event of events) {
    const rows = await timeline.add(event)
    for (const { id, html } of rows) {
      await stream.writeSSE({ event: 'row', data: html, ...(id === event.id && { id }) })
    }
  }
}

/** The parts of the page that are replaced as a whole, where they differ from what was told last. */
async function tellPieces(
  stream: SSEStreamingApi,
  told: Map<string, string>,
  state: RunState,
  timeline: Timeline,
): Promise<boolean> {
  const head = String(await runHead(state))
  const outcome = String(await runOutcome(state.view, timeline.receipt()))
  const changed = Object.entries({ head, outcome }).filter(
    ([name, html]) => told.get(name) !== html,
  )
  for (const [name, data] of changed) {
    told.set(name, data)
    await stream.writeSSE({ event: 'piece', data })
  }
  return changed.length > 0
}

/** Keeps what lies between from taking a quiet stream for a dead one. */
function createHeartbeat(stream: SSEStreamingApi, now: () => Date) {
  let heard = now().getTime()
  return async (toldSomething: boolean) => {
    const ms = now().getTime()
    if (!toldSomething && ms - heard < HEARTBEAT_MS) return
    heard = ms
    if (!toldSomething) await stream.write(': still here\n\n')
  }
}
