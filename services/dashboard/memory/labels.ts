import type { MemoryState } from '../../../shared/contracts/memory.ts'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { Html } from '../layout.ts'
import { badge } from '../parts/badge.ts'

/** Whether searches answer with a record, and if not, why; the first reason that holds. */
export function stateOf(
  record: Pick<MemoryRecord, 'revoked_at' | 'superseded_by'> & { expired: boolean },
): MemoryState {
  if (record.revoked_at !== null) return 'revoked'
  if (record.superseded_by !== null) return 'superseded'
  return record.expired ? 'expired' : 'live'
}

const STATE_BADGES: Record<MemoryState, Html> = {
  live: badge('live', 'good'),
  expired: badge('expired', 'quiet'),
  superseded: badge('superseded', 'quiet'),
  revoked: badge('revoked', 'bad'),
}

export function stateBadge(state: MemoryState): Html {
  return STATE_BADGES[state]
}

export function proofBadge(isProved: boolean): Html {
  return isProved ? badge('proved', 'good') : badge('unproved', 'warn')
}

export function memoryPath(id: string): string {
  return `/memories/${encodeURIComponent(id)}`
}

/** A change of a record that waits, by its job. */
export function changePath(id: string, change: string): string {
  return `${memoryPath(id)}/changes/${encodeURIComponent(change)}`
}

export function runPath(id: string): string {
  return `/runs/${encodeURIComponent(id)}`
}
