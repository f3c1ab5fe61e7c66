import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import type { MemoryBackend } from './backend.ts'

/**
 * Removes a record for good; false when there is none of that id. Its receipt stays used. What it
 * stood for stands for itself again, unless the record was revoked: then that was found wrong too.
 */
export async function deleteMemory(
  { memory_id }: Payload<'memory', 'delete'>,
  backend: MemoryBackend,
): Promise<Result<'memory', 'delete'>> {
  // One that cannot be read can be deleted all the same.
  const record = await backend.get(memory_id).catch(() => null)
  // Before the deletion: a job that dies in between is done again.
  const brought_back = record ? await passOn(backend, record) : []
  return { deleted: await backend.delete(memory_id), brought_back }
}

/** Leaves what a record stood for to its successor, or to itself. */
async function passOn(backend: MemoryBackend, record: MemoryRecord): Promise<string[]> {
  if (record.revoked_at !== null) return []
  const behind = await backend.supersededBy(record.memory_id)
  if (behind.length > 0) await backend.supersede(behind, record.superseded_by)
  return record.superseded_by === null ? behind : []
}
