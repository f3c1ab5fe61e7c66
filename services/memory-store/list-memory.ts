import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import type { MemoryBackend } from './backend.ts'

/** A page of records in short form, newest first, and how many there are in all. */
export async function listMemory(
  page: Payload<'memory', 'list'>,
  backend: MemoryBackend,
): Promise<Result<'memory', 'list'>> {
  const { records, total } = await backend.list(page)
  return {
    records: records.map((record) => ({
      memory_id: record.memory_id,
      fix_description: record.fix_description,
      error_type: record.error_type,
      file_paths: record.file_paths,
      outcome: record.outcome,
      timestamp: record.timestamp,
      session_id: record.session_id,
    })),
    total,
  }
}
