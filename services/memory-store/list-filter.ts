import type { MemoryState } from '../../shared/contracts/memory.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { errorKey } from './error-key.ts'

/** What fields records must have; what is null or not given is not asked for. */
export type FieldFilter = {
  session_id?: string | null | undefined
  repository_id?: string | undefined
  /** Compared by `errorKey`. */
  error_type?: string | undefined
}

export type ListFilter = FieldFilter & {
  state?: MemoryState | undefined
  /** An ISO time: what was confirmed before it has expired. */
  notBefore?: string | null | undefined
}

export function hasFields(record: MemoryRecord, filter: FieldFilter): boolean {
  const { session_id = null, repository_id, error_type } = filter
  return (
    (session_id === null || record.session_id === session_id) &&
    (repository_id === undefined || record.repository_id === repository_id) &&
    (error_type === undefined || errorKey(record.error_type) === errorKey(error_type))
  )
}

export function fitsList(record: MemoryRecord, filter: ListFilter): boolean {
  const { state, notBefore = null } = filter
  return hasFields(record, filter) && (state === undefined || stateOf(record, notBefore) === state)
}

/** Each record has one state: the first that holds. */
function stateOf(record: MemoryRecord, notBefore: string | null): MemoryState {
  if (record.revoked_at !== null) return 'revoked'
  if (record.superseded_by !== null) return 'superseded'
  const isOld = notBefore !== null && Date.parse(record.timestamp) < Date.parse(notBefore)
  return isOld ? 'expired' : 'live'
}
