import type { MemoryState } from '../../../shared/contracts/memory.ts'
import { errorKey } from '../error-key.ts'
import type { ListFilter } from '../list-filter.ts'
import { type Condition, has } from './live-filter.ts'
import { NONE } from './record-payload.ts'

type Conditions = { must: Condition[]; must_not: Condition[] }

/** The conditions of the server for what `fitsList` says of records. */
export function listConditions(filter: ListFilter): Conditions {
  const { session_id = null, repository_id, error_type, state, notBefore = null } = filter
  const of = state === undefined ? { must: [], must_not: [] } : stateConditions(state, notBefore)
  return {
    must: [
      ...(session_id === null ? [] : [has('session_id', session_id)]),
      ...(repository_id === undefined ? [] : [has('repository_id', repository_id)]),
      ...(error_type === undefined ? [] : [has('error_key', errorKey(error_type))]),
      ...of.must,
    ],
    must_not: of.must_not,
  }
}

const kept = has('revoked_at', NONE)
const ownWord = has('superseded_by', NONE)

function stateConditions(state: MemoryState, notBefore: string | null): Conditions {
  // Without a limit all are after the beginning of time.
  const limit = notBefore === null ? Number.MIN_SAFE_INTEGER : Date.parse(notBefore)
  switch (state) {
    case 'revoked':
      return { must: [], must_not: [kept] }
    case 'superseded':
      return { must: [kept], must_not: [ownWord] }
    case 'expired':
      return { must: [kept, ownWord, confirmed({ lt: limit })], must_not: [] }
    case 'live':
      return { must: [kept, ownWord, confirmed({ gte: limit })], must_not: [] }
  }
}

function confirmed(range: { gte: number } | { lt: number }): Condition {
  return { key: 'confirmed_ms', range }
}
