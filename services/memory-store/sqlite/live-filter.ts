import type { SQLInputValue } from 'node:sqlite'
import type { LiveFilter } from '../backend.ts'
import { errorKey } from '../error-key.ts'
import type { ScanFilter } from './scan/vector-scan.ts'
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

/** The same for the vectors in memory, which know the live ones by themselves. */
export function scanFilter({ errorType, scope, notBefore }: LiveFilter): ScanFilter {
  const repository = scope !== null && 'repository_id' in scope ? scope.repository_id : null
  const group = scope !== null && 'group' in scope ? scope.group : null
  return {
    errorKey: errorType === null ? null : errorKey(errorType),
    repository: repository === null ? null : scopeKey(repository),
    group: group === null ? null : scopeKey(group),
    notBeforeMs: notBefore === null ? null : Date.parse(notBefore),
  }
}

function all(parts: ([where: string, values: SQLInputValue[]] | false)[]): Condition {
  const kept = parts.filter((part) => part !== false)
  return {
    where: kept.map(([where]) => where).join(' AND '),
    values: kept.flatMap(([, values]) => values),
  }
}
