import type { SQLInputValue } from 'node:sqlite'
import type { LiveFilter } from '../backend.ts'
import { errorKey } from '../error-key.ts'
import { scopeKey } from './write-records.ts'

type Condition = { where: string; values: SQLInputValue[] }

/** The filter for rows of `memories`. */
export function liveRows({ errorType, scope, notBefore }: LiveFilter): Condition {
  return all([
    ['superseded_by IS NULL', []],
    ['revoked_at IS NULL', []],
    errorType !== null && ['error_key = ?', [errorKey(errorType)]],
    scope !== null &&
      ('repository_id' in scope
        ? ['repository_id = ?', [scope.repository_id]]
        : ['group_name = ?', [scope.group]]),
    notBefore !== null && ['confirmed_ms >= ?', [Date.parse(notBefore)]],
  ])
}

/** The same for `live_vectors`, which takes whole numbers as bigint alone. */
export function liveVectors({ errorType, scope, notBefore }: LiveFilter): Condition {
  return all([
    ['live = 1', []],
    errorType !== null && ['error_key = ?', [errorKey(errorType)]],
    scope !== null &&
      ('repository_id' in scope
        ? ['repository = ?', [scopeKey(scope.repository_id)]]
        : ['group_name = ?', [scopeKey(scope.group)]]),
    notBefore !== null && ['confirmed_ms >= ?', [BigInt(Date.parse(notBefore))]],
  ])
}

function all(parts: ([where: string, values: SQLInputValue[]] | false)[]): Condition {
  const kept = parts.filter((part) => part !== false)
  return {
    where: kept.map(([where]) => where).join(' AND '),
    values: kept.flatMap(([, values]) => values),
  }
}
