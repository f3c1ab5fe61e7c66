import type { KeyObject } from 'node:crypto'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { receiptProblem } from '../../shared/receipt.ts'

/** What a record says about its own proof. */
export type ProofClaim = Pick<MemoryRecord, 'receipt' | 'outcome' | 'session_id'>

/**
 * Says why a record counts as unproved, or null when a trusted key signed exactly this outcome for
 * exactly this run.
 */
export function proofProblem(claim: ProofClaim, trusted: Map<string, KeyObject>): string | null {
  const { receipt, outcome, session_id } = claim
  if (!receipt) return 'there is no receipt'
  const problem = receiptProblem(receipt, trusted)
  if (problem) return problem
  if (receipt.body.run_id !== session_id) {
    return `the receipt is of run ${receipt.body.run_id}, not of ${session_id}`
  }
  if (receipt.body.outcome !== outcome) {
    return `the receipt confirms "${receipt.body.outcome}", not "${outcome}"`
  }
  return null
}
