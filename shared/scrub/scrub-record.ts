import type { MemoryRecord } from '../contracts/record.ts'
import { scrubStore, secretInReceipt } from './scrub-store.ts'
import type { Scrubber } from './scrubber.ts'

/**
 * A record of elsewhere without the secrets in what it tells of a failure. `secret` says why it
 * cannot be had so: its id, or its proof, follows from a text that holds one.
 */
export async function scrubRecord(
  record: MemoryRecord,
  scrub: Scrubber,
): Promise<{ record: MemoryRecord } | { secret: string }> {
  const inReceipt = await secretInReceipt(record.receipt, scrub)
  if (inReceipt !== null) return { secret: inReceipt }
  const { fix_description, error_type, file_paths, outcome } = record
  const { symptom_raw, symptom, diff, language, framework } = record
  const { repository_id, failing_tests, model } = record
  const claim = { fix_description, error_type, file_paths, outcome }
  const clean = await scrubStore(
    {
      claim,
      evidence: {
        symptom_raw,
        symptom,
        diff,
        language,
        framework,
        repository_id,
        failing_tests,
        model,
      },
      session_id: record.session_id,
      confirmed_at: record.timestamp,
      receipt: record.receipt,
      scrubbed: record.scrubbed,
    },
    scrub,
  )
  if (JSON.stringify(clean.claim) !== JSON.stringify(claim)) {
    const rules = clean.scrubbed?.map(({ rule }) => rule).join(', ')
    return {
      secret: `its fix, error type, files or outcome hold what looks like a secret (${rules})`,
    }
  }
  return { record: { ...record, ...clean.evidence, scrubbed: clean.scrubbed ?? [] } }
}
