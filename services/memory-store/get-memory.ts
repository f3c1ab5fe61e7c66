import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import type { MemoryBackend } from './backend.ts'
import { isExpired, type MemoryPolicy } from './lifecycle/policy.ts'
import { proofProblem } from './proof.ts'

/** One whole record, also a revoked one, and why it is unproved; null when there is none of that id. */
export async function getMemory(
  { memory_id }: Payload<'memory', 'get'>,
  { backend, home, policy }: { backend: MemoryBackend; home: string; policy: MemoryPolicy },
): Promise<Result<'memory', 'get'>> {
  const record = await backend.get(memory_id)
  return {
    record,
    unproved: record && proofProblem(record, loadTrustedKeys(home)),
    expired: record !== null && isExpired(record.timestamp, policy, new Date()),
    stands_for: await backend.supersededBy(memory_id),
  }
}
