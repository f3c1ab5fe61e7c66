import type { KeyObject } from 'node:crypto'
import { memoryIdOf } from '../../shared/contracts/ids.ts'
import type { ProofProblem } from '../../shared/contracts/memory.ts'
import type { ReceiptBody } from '../../shared/contracts/receipt.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { receiptProblem } from '../../shared/receipt.ts'

/**
 * Says why a record counts as unproved, or null when a trusted key signed exactly this: its run,
 * its outcome, its runner, its repository and its tests. Its symptom and its diff are the word of
 * whoever stored it: they were scrubbed and cut, so the hash of the whole patch says nothing of them.
 */
export function proofProblem(
  record: MemoryRecord,
  trusted: Map<string, KeyObject>,
): ProofProblem | null {
  if (memoryIdOf(record) !== record.memory_id) {
    const message = 'the record was altered after it was stored: its id does not follow from it'
    return { reason: 'altered_record', message }
  }
  if (!record.receipt) return { reason: 'no_receipt', message: 'there is no receipt' }
  return receiptProblem(record.receipt, trusted) ?? mismatch(record.receipt.body, record)
}

/** A receipt is good for what it is about and for nothing else. */
function mismatch(body: ReceiptBody, record: MemoryRecord): ProofProblem | null {
  if (body.run_id !== record.session_id) {
    const message = `the receipt is of run ${body.run_id}, not of ${record.session_id}`
    return { reason: 'other_run', message }
  }
  if (body.outcome !== record.outcome) {
    const message = `the receipt confirms "${body.outcome}", not "${record.outcome}"`
    return { reason: 'other_outcome', message }
  }
  if (record.framework !== null && body.runner !== record.framework) {
    const message = `the receipt is of ${body.runner}, not of ${record.framework}`
    return { reason: 'other_runner', message }
  }
  // A snapshot of an earlier version names no repository.
  if (body.repository_id !== null && body.repository_id !== record.repository_id) {
    const message = `the receipt is of repository ${body.repository_id}, not of ${record.repository_id}`
    return { reason: 'other_repository', message }
  }
  if (!sameNames(body.targets, record.failing_tests)) {
    const message = 'the receipt is about other failing tests than the record'
    return { reason: 'other_tests', message }
  }
  return null
}

/** Order and repetition do not count. */
function sameNames(one: readonly string[], other: readonly string[]): boolean {
  const [a, b] = [new Set(one), new Set(other)]
  return a.size === b.size && one.every((name) => b.has(name))
}
