import {
  allCalls,
  currentVerification,
  deliveries,
  type PlacedCall,
  PREFETCH,
} from './conversation.ts'
import { callKey, type Journal } from './journal.ts'

/**
 * True when a memory search output had reached the model before it wrote the response to
 * `request`. An empty result counts, and so does "memory unavailable": what counts is having looked.
 */
export function memoryReady(journal: Journal, request: number): boolean {
  const searches = allCalls(journal)
    .filter((call) => call.name === 'search_codebase_memory')
    .map((call) => callKey(call.call_id))
  const delivered = deliveries(journal)
  return [PREFETCH, ...searches].some(
    (key) => (delivered.get(key) ?? Number.POSITIVE_INFINITY) <= request,
  )
}

/** Edits and final answers that came before the memory: a run may do so once. */
export function gateViolations(journal: Journal): number {
  const responses = new Set(
    allCalls(journal)
      .filter((call) => call.name === 'apply_edit' && !memoryReady(journal, call.request))
      .map((call) => call.request),
  )
  const reminders = new Set(
    [...journal.sent].filter(([, sent]) => sent.reminder).map(([key]) => Number.parseInt(key, 10)),
  )
  return responses.size + reminders.size
}

/** Calls that were answered with a gate's refusal, and final answers that were sent back. */
export function gateRefusals(journal: Journal): number {
  const calls = [...journal.outputs.values()].filter(({ output }) => GATE_REFUSAL.test(output))
  const reminders = [...journal.sent].filter(([, sent]) => sent.reminder)
  return calls.length + new Set(reminders.map(([key]) => Number.parseInt(key, 10))).size
}

/** As `errorOutput` writes it; the text of a file is JSON of another shape. */
const GATE_REFUSAL = /^\{"error":\{"code":"(memory_gate|confirmed_fix_gate)"/

/** Why this call may not be carried out now, or null. */
export function gateProblem(
  journal: Journal,
  call: PlacedCall,
  outcome: string | null,
): { code: 'memory_gate' | 'confirmed_fix_gate'; message: string } | null {
  const gated = call.name === 'apply_edit' || call.name === 'store_fix_memory'
  if (gated && !memoryReady(journal, call.request)) {
    return {
      code: 'memory_gate',
      message:
        'No memory search output had been delivered to you before this call. ' +
        'Call search_codebase_memory with the observed symptoms, wait for its output, then try again.',
    }
  }
  if (call.name !== 'store_fix_memory') return null
  const verification = currentVerification(journal)
  const confirmed = verification?.confirmed ? verification.outcome : null
  if (confirmed !== null && outcome === confirmed) return null
  return {
    code: 'confirmed_fix_gate',
    message:
      confirmed === null
        ? 'The tree as it is now has no passing, verified test run. Call run_tests and store only after it returned a confirmed_outcome.'
        : `outcome must be the confirmed_outcome of the latest passing run, word for word: ${JSON.stringify(confirmed)}`,
  }
}
