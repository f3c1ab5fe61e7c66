import type { StoreResult } from '../../../shared/contracts/memory.ts'
import type { RunView } from '../../../shared/contracts/run-view.ts'
import {
  allCalls,
  BASELINE,
  currentVerification,
  deliveries,
  isBegun,
  lastRequest,
  outcomeOf,
  PREFETCH,
  responsesOf,
  responseTo,
} from './conversation.ts'
import { gateRefusals } from './gates.ts'
import { callKey, type Journal, systemKey } from './journal.ts'

/** The run as people read it, from its journal. `patch` is what the current tree changes. */
export function viewOf(
  journal: Journal,
  patch: { diff: string | null; hash: string | null },
): RunView {
  if (!journal.start) throw new Error('a run that has not started has no view')
  const { request, model } = journal.start
  const verification = currentVerification(journal)
  const stored = storedMemory(journal)
  const responses = responsesOf(journal).map(({ response }) => response)
  return {
    run_id: request.run_id,
    status: journal.end?.status ?? 'running',
    reason: journal.end?.reason ?? null,
    message: journal.end?.message ?? '',
    mode: request.mode,
    model,
    workspace: request.workspace,
    prompt: request.prompt,
    created_at: request.created_at,
    ended_at: journal.end?.at ?? null,
    requests: journal.sent.size,
    tool_calls: allCalls(journal).filter(
      (call) => isBegun(journal, call) || call.name === 'wait_for_tasks',
    ).length,
    tests: testJobs(journal),
    gate_refusals: gateRefusals(journal),
    tokens: tokensOf(journal),
    cost_usd: costMicrousdOf(journal) / 1e6,
    cost_is_notional: request.mode === 'offline',
    budget_usd: request.limits.budget_microusd / 1e6,
    recall: recallOf(journal),
    verification: verification
      ? {
          command: verification.command,
          failing_before: verification.failing_before,
          passing_after: verification.passing_after,
          outcome: verification.confirmed ? verification.outcome : null,
        }
      : null,
    stored_memory_id: stored?.memory_id ?? null,
    store_waits: stored?.waiting ?? false,
    patch: patch.diff,
    patch_hash: patch.hash,
    dropped_paths: verification?.dropped_paths ?? [],
    response_ids: responses.map((response) => response.id),
    final_text: journal.end?.final_text ?? responseTo(journal, lastRequest(journal))?.text ?? null,
  }
}

/** What all attempts cost: answered ones by their usage, lost ones by their whole hold. */
export function costMicrousdOf(journal: Journal): number {
  let total = 0
  for (const [key, sent] of journal.sent)
    total += attemptCost(journal, key, sent.hold_microusd) ?? 0
  return total
}

/** What one attempt cost, or null while its end is open. `key` is `request.attempt`. */
export function attemptCost(journal: Journal, key: string, hold: number): number | null {
  const [request = '', attempt = ''] = key.split('.')
  const response = journal.responses.get(request)
  if (response && response.attempt === Number(attempt)) return response.cost_microusd
  const fault = journal.faults.get(key)
  if (fault) return fault.charged ? hold : 0
  const isLast =
    Number(request) === lastRequest(journal) &&
    !journal.sent.has(`${request}.${Number(attempt) + 1}`)
  return isLast && !response && !journal.end ? null : hold
}

function tokensOf(journal: Journal): RunView['tokens'] {
  const total = { input: 0, cached_input: 0, output: 0, reasoning: 0, total: 0 }
  for (const { usage } of journal.responses.values()) {
    total.input += usage.input_tokens
    total.cached_input += usage.cached_tokens
    total.output += usage.output_tokens
    total.reasoning += usage.reasoning_tokens
    total.total += usage.input_tokens + usage.output_tokens
  }
  return total
}

/** Jobs of the test-runner: the model's own, the baseline, and verifications of a tree. */
function testJobs(journal: Journal): number {
  const runs = allCalls(journal)
    .filter((call) => call.name === 'run_tests')
    .map((call) => callKey(call.call_id))
  const keys = [...journal.jobs.keys()]
  const own = keys.filter((key) => key === BASELINE || key.startsWith(systemKey('verify-')))
  return own.length + runs.filter((key) => journal.jobs.has(key)).length
}

/** What searches brought to the model. */
export function recallOf(journal: Journal): RunView['recall'] {
  const keys = searchKeys(journal)
  const delivered = deliveries(journal)
  const outcomes = keys.flatMap((key) =>
    delivered.has(key) ? (outcomeOf(journal, key, 'search') ?? []) : [],
  )
  const returned = outcomes.flatMap((outcome) => (outcome.ok ? outcome.value.matches : []))
  const best = new Map<string, number>()
  for (const { memory_id, score } of returned) {
    best.set(memory_id, Math.max(score, best.get(memory_id) ?? score))
  }
  const firstDelivery = Math.min(
    ...keys.map((key) => delivered.get(key) ?? Number.POSITIVE_INFINITY),
  )
  const firstEdit = allCalls(journal).find((call) => journal.edits.has(callKey(call.call_id)))
  return {
    mode: journal.start?.request.recall ?? 'tool',
    searches: keys.length,
    unavailable: outcomes.filter(({ ok }) => !ok).length,
    answered_none: outcomes.filter((each) => each.ok && each.value.matches.length === 0).length,
    matched: outcomes.filter((each) => each.ok && each.value.matches.length > 0).length,
    returned: [...best].map(([memory_id, score]) => ({ memory_id, score })),
    delivered_before_first_edit: firstEdit ? firstDelivery <= firstEdit.request : null,
  }
}

/** Searches that were really made, the runner's own included. */
function searchKeys(journal: Journal): string[] {
  const calls = allCalls(journal)
    .filter((call) => call.name === 'search_codebase_memory')
    .map((call) => callKey(call.call_id))
  return [PREFETCH, ...calls].filter((key) => journal.jobs.has(key))
}

function storedMemory(journal: Journal): Extract<StoreResult, { stored: true }> | null {
  const stores = allCalls(journal).filter((call) => call.name === 'store_fix_memory')
  for (const call of stores.reverse()) {
    const outcome = outcomeOf(journal, callKey(call.call_id), 'store')
    if (outcome?.ok && outcome.value.stored) return outcome.value
  }
  return null
}

/** What was observed before the model was asked; null when the tests were not red. */
export function observedSymptom(journal: Journal) {
  const baseline = outcomeOf(journal, BASELINE, 'baseline')
  return baseline?.ok && baseline.value.kind === 'red' ? baseline.value.symptom : null
}
