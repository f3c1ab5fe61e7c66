import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { LiveFilter } from '../backend.ts'
import { errorKey } from '../error-key.ts'
import { NONE } from './record-payload.ts'

export type Condition =
  | { key: string; match: { value: string } }
  | { key: string; range: { gte: number } | { lt: number } }
  | { has_id: string[] }

export type PointFilter = { must: Condition[]; must_not?: Condition[] }

export function has(key: string, value: string): Condition {
  return { key, match: { value } }
}

/** The conditions of the server for what `isLive` says of records. */
export function liveConditions({ errorType, scope, notBefore }: LiveFilter): Condition[] {
  return [
    has('revoked_at', NONE),
    has('superseded_by', NONE),
    ...(errorType === null ? [] : [has('error_key', errorKey(errorType))]),
    ...Object.entries(scope ?? {}).map(([key, value]) => has(key, value)),
    ...(notBefore === null ? [] : [{ key: 'confirmed_ms', range: { gte: Date.parse(notBefore) } }]),
  ]
}

/** Whether a search with this filter may choose the record. */
export function isLive(record: MemoryRecord, { errorType, scope, notBefore }: LiveFilter): boolean {
  if (record.revoked_at !== null || record.superseded_by !== null) return false
  if (errorType !== null && errorKey(record.error_type) !== errorKey(errorType)) return false
  if (notBefore !== null && Date.parse(record.timestamp) < Date.parse(notBefore)) return false
  if (scope === null) return true
  return 'group' in scope
    ? record.group === scope.group
    : record.repository_id === scope.repository_id
}
