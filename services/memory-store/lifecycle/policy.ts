import type { Config } from '../../../shared/config.ts'
import type { LiveFilter } from '../backend.ts'

/** How long records are answered, and to whom. */
export type MemoryPolicy = {
  sharing: Config['ASTRA_MEMORY_SHARING']
  /** Of this installation: its records carry it. */
  group: string | null
  /** Null: records do not expire. */
  days: number | null
}

export function policyOf(config: Config): MemoryPolicy {
  return {
    sharing: config.ASTRA_MEMORY_SHARING,
    group: config.ASTRA_MEMORY_GROUP ?? null,
    days: config.ASTRA_MEMORY_DAYS ?? null,
  }
}

export type SearchScope =
  | { kind: 'search'; scope: LiveFilter['scope'] }
  /** Nothing may be answered to whoever asks. */
  | { kind: 'withheld'; why: string }

/** What may be answered to a run of that repository. Without an answer to whose it is: nothing. */
export function scopeOf(policy: MemoryPolicy, repositoryId: string | undefined): SearchScope {
  const { sharing, group } = policy
  switch (sharing) {
    case 'all':
      return { kind: 'search', scope: null }
    case 'group':
      if (group !== null) return { kind: 'search', scope: { group } }
      return { kind: 'withheld', why: 'ASTRA_MEMORY_SHARING is group, and no group is named' }
    case 'repository':
      if (repositoryId) return { kind: 'search', scope: { repository_id: repositoryId } }
      return {
        kind: 'withheld',
        why: 'ASTRA_MEMORY_SHARING is repository, and the search names no repository',
      }
  }
}

const DAY_MS = 24 * 3600 * 1000

/** Records that were confirmed before this ISO time have expired; null: none has. */
export function expiredBefore({ days }: MemoryPolicy, now: Date): string | null {
  return days === null ? null : new Date(now.getTime() - days * DAY_MS).toISOString()
}

export function isExpired(timestamp: string, policy: MemoryPolicy, now: Date): boolean {
  const limit = expiredBefore(policy, now)
  return limit !== null && Date.parse(timestamp) < Date.parse(limit)
}
