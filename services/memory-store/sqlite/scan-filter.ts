import type { LiveFilter } from '../backend.ts'
import { errorKey } from '../error-key.ts'
import type { ScanFilter } from './scan/row-labels.ts'
import { scopeKey } from './write-records.ts'

/** What a search may choose from, for the rows in memory, which know the live ones by themselves. */
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
