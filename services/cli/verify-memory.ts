import {
  type UnprovedReason,
  unprovedReasonSchema,
  type VerifyResult,
} from '../../shared/contracts/memory.ts'
import { askMemory } from '../../shared/queue/ask-memory.ts'
import type { Producer } from '../../shared/queue/producer.ts'

export type VerifiedMemory = {
  checked: number
  proved: number
  unproved: Partial<Record<UnprovedReason, number>>
  /** The first unproved records, as many as were asked for. */
  records: VerifyResult['named']
}

/** Lets the memory-store check all its records, one job after the other, and adds up the answers. */
export async function verifyMemory(producer: Producer, limit: number): Promise<VerifiedMemory> {
  const sum: VerifiedMemory = { checked: 0, proved: 0, unproved: {}, records: [] }
  let after: string | null = null
  do {
    const named = limit - sum.records.length
    const part: VerifyResult = await askMemory(producer, 'verify', { after, named })
    sum.checked += part.proved
    sum.proved += part.proved
    for (const reason of unprovedReasonSchema.options) {
      const count = part.unproved[reason] ?? 0
      if (count === 0) continue
      sum.checked += count
      sum.unproved[reason] = (sum.unproved[reason] ?? 0) + count
    }
    sum.records.push(...part.named)
    after = part.next
  } while (after !== null)
  return sum
}
