import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { MemoryBackend, Revocable } from '../backend.ts'

const PAGE = 100

/** The records of an id or a session; null for a repository, which can have too many to read. */
export async function recordsOf(
  backend: MemoryBackend,
  which: Revocable,
): Promise<MemoryRecord[] | null> {
  if ('repository_id' in which) return null
  if ('memory_id' in which) {
    const record = await backend.get(which.memory_id)
    return record ? [record] : []
  }
  const found: MemoryRecord[] = []
  for (;;) {
    const page = { limit: PAGE, offset: found.length, session_id: which.session_id }
    const { records } = await backend.list(page)
    found.push(...records)
    if (records.length < PAGE) return found
  }
}

export async function countOf(
  backend: MemoryBackend,
  which: Revocable,
  records: readonly MemoryRecord[] | null,
): Promise<number> {
  return 'repository_id' in which
    ? backend.countOfRepository(which.repository_id)
    : (records ?? []).length
}
