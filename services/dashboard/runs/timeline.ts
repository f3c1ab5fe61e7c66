import type { ReceiptSummary } from '../../../shared/contracts/run-event-details.ts'
import { eventRow } from './event-row.ts'
import type { KnownCall } from './known-call.ts'
import type { PlacedEvent } from './read-events.ts'

export type Row = { id: string; html: string }

/** A run's events as rows. Adding one returns the rows that are new or say more than before. */
export type Timeline = {
  add(placed: PlacedEvent): Promise<Row[]>
  rows(): Row[]
  /** What the latest proof's receipt says. */
  receipt(): ReceiptSummary | null
}

export function createTimeline(): Timeline {
  const events = new Map<string, PlacedEvent>()
  const rows = new Map<string, Row>()
  const calls = new Map<string, KnownCall>()
  let receipt: ReceiptSummary | null = null

  async function render(id: string): Promise<Row[]> {
    const placed = events.get(id)
    if (!placed) return []
    const row = { id, html: String(await eventRow(placed, calls)) }
    rows.set(id, row)
    return [row]
  }

  return {
    async add(placed) {
      events.set(placed.id, placed)
      const changed = note(placed, calls)
      const { details } = placed.event
      if (details?.kind === 'tests' && details.proof) receipt = details.proof.receipt
      const made = await Promise.all([...changed, placed.id].map(render))
      return made.flat()
    },
    rows: () => [...rows.values()],
    receipt: () => receipt,
  }
}

/** Keeps what an event says about calls, and returns the earlier events that now say more. */
function note({ id, event }: PlacedEvent, calls: Map<string, KnownCall>): string[] {
  const { details } = event
  if (details?.kind === 'response') {
    for (const { call_id, tool, async } of details.calls) {
      calls.set(call_id, { tool, async, asked: details.request, delivered: null, rows: [] })
    }
  }
  if (details?.kind === 'request') {
    const delivered = details.delivers.flatMap(({ call_id }) => calls.get(call_id ?? '') ?? [])
    for (const call of delivered) call.delivered = details.request
    return [...new Set(delivered.flatMap(({ rows }) => rows))]
  }
  if (details && 'call_id' in details) calls.get(details.call_id ?? '')?.rows.push(id)
  return []
}
