import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import type { MemoryBackend } from '../backend.ts'
import { countOf, recordsOf } from './records-of.ts'

/** Takes revocations back. A record that another one stands for is not answered by that. */
export async function restoreMemory(
  { which }: Payload<'memory', 'restore'>,
  backend: MemoryBackend,
): Promise<Result<'memory', 'restore'>> {
  const changed = await backend.setRevoked(which, null)
  const records = await recordsOf(backend, which)
  const superseded = (records ?? []).filter(({ superseded_by }) => superseded_by !== null)
  return {
    found: await countOf(backend, which, records),
    changed,
    superseded: superseded.map(({ memory_id }) => memory_id),
  }
}
