import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import type { MemoryBackend } from './backend.ts'

/** Removes a record for good; false when there is none of that id. Its receipt stays used. */
export async function deleteMemory(
  { memory_id }: Payload<'memory', 'delete'>,
  backend: MemoryBackend,
): Promise<Result<'memory', 'delete'>> {
  return { deleted: await backend.delete(memory_id) }
}
