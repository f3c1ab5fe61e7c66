import { setTimeout } from 'node:timers/promises'
import { UnavailableError } from '../../../shared/errors.ts'
import { has } from '../points/live-filter.ts'
import type { Collection, Point } from './collection.ts'

/*
 * The server has no insert that overwrites nothing, so a receipt is claimed by the records
 * themselves: whoever wants it writes its record as `pending`, which no search sees, then looks for
 * others with the same receipt, then holds it. As everyone writes before looking, of two at once at
 * least one sees the other.
 */

/** Rivals that all withdrew try again after a pause that differs. */
const MAX_TRIES = 8
const PAUSE_MS = 100
/** Longer than all requests of a claim may take: whoever began before that died over it. */
const DEAD_MS = 300_000

type Claim = {
  receiptId: string
  memoryId: string
  /** Writes the pending record. */
  write(): Promise<void>
  /** Undoes `write`. */
  withdraw(): Promise<void>
}

/** Null when the receipt is ours now; else the id of the record it belongs to, and nothing was kept. */
export async function claimReceipt(collection: Collection, claim: Claim): Promise<string | null> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const holder = held(await rivals(collection, claim))
    if (holder !== null) {
      // What an earlier try may have left, when its process died.
      await claim.withdraw()
      return holder
    }
    await claim.write()
    const seen = await rivals(collection, claim)
    if (seen.length === 0) return null
    await claim.withdraw()
    await setTimeout(Math.random() * PAUSE_MS * tries)
  }
  throw new UnavailableError('several stores claim one receipt at the same moment: try again')
}

async function rivals(
  collection: Collection,
  { receiptId, memoryId }: Pick<Claim, 'receiptId' | 'memoryId'>,
): Promise<Point[]> {
  const all = await collection.all({ must: [has('receipt_id', receiptId)] })
  return all.filter(({ payload }) => payload.memory_id !== memoryId && !isDead(payload))
}

function isDead({ claim, claimed_ms }: Point['payload']): boolean {
  return claim === 'pending' && Date.now() - Number(claimed_ms) > DEAD_MS
}

function held(points: Point[]): string | null {
  const holder = points.find(({ payload }) => payload.claim !== 'pending')
  return holder ? String(holder.payload.memory_id) : null
}
