import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import type { MemoryBackend } from '../backend.ts'
import { countOf, recordsOf } from './records-of.ts'

/**
 * Takes records out of every search until they are restored. What they stand for stays out too: a
 * near-duplicate says the same, and would come up in place of the fix that was just found wrong.
 */
export async function revokeMemory(
  { which }: Payload<'memory', 'revoke'>,
  backend: MemoryBackend,
): Promise<Result<'memory', 'revoke'>> {
  const changed = await backend.setRevoked(which, new Date().toISOString())
  const records = await recordsOf(backend, which)
  const behind = await Promise.all(
    (records ?? []).map(({ memory_id }) => backend.supersededBy(memory_id)),
  )
  return { found: await countOf(backend, which, records), changed, stands_for: behind.flat() }
}
