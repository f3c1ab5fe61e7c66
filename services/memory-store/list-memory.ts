import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import type { MemoryBackend } from './backend.ts'
import { expiredBefore, isExpired, type MemoryPolicy } from './lifecycle/policy.ts'
import { proofProblem } from './proof.ts'

/** A page of records in short form, newest first, and how many there are in all. */
export async function listMemory(
  page: Payload<'memory', 'list'>,
  { backend, home, policy }: { backend: MemoryBackend; home: string; policy: MemoryPolicy },
): Promise<Result<'memory', 'list'>> {
  const now = new Date()
  const { records, total } = await backend.list({ ...page, notBefore: expiredBefore(policy, now) })
  const trusted = loadTrustedKeys(home)
  return {
    records: records.map((record) => ({
      memory_id: record.memory_id,
      fix_description: record.fix_description,
      error_type: record.error_type,
      file_paths: record.file_paths,
      outcome: record.outcome,
      timestamp: record.timestamp,
      session_id: record.session_id,
      repository_id: record.repository_id,
      shown: record.shown,
      confirmed: record.confirmed,
      unconfirmed: record.unconfirmed,
      revoked_at: record.revoked_at,
      superseded_by: record.superseded_by,
      proved: proofProblem(record, trusted) === null,
      expired: isExpired(record.timestamp, policy, now),
    })),
    total,
  }
}
