import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import type { MemoryBackend } from './backend.ts'

/** One whole record, also a revoked one; null when there is none of that id. */
export async function getMemory(
  { memory_id }: Payload<'memory', 'get'>,
  backend: MemoryBackend,
): Promise<Result<'memory', 'get'>> {
  return { record: await backend.get(memory_id) }
}
