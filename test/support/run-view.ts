import type { RunView } from '../../shared/contracts/run-view.ts'

/** A whole view of a run that ended without a repair. */
export function sampleView(changes: Partial<RunView> = {}): RunView {
  return {
    run_id: 'run-a',
    status: 'not_fixed',
    reason: 'tests_fail',
    message: 'the tests still fail',
    mode: 'offline',
    model: 'offline-stand-in',
    workspace: '/some/where',
    prompt: 'repair it',
    created_at: '2026-11-29T10:00:00.000Z',
    ended_at: '2026-11-29T10:01:00.000Z',
    requests: 5,
    tool_calls: 7,
    tests: 3,
    gate_refusals: 0,
    tokens: { input: 100, cached_input: 50, output: 20, reasoning: 0, total: 120 },
    cost_usd: 0.0123,
    cost_is_notional: true,
    budget_usd: 2,
    recall: {
      mode: 'tool',
      searches: 1,
      unavailable: 0,
      answered_none: 1,
      matched: 0,
      returned: [],
      delivered_before_first_edit: true,
    },
    verification: null,
    stored_memory_id: null,
    store_waits: false,
    patch: null,
    patch_hash: null,
    dropped_paths: [],
    response_ids: ['resp_1'],
    final_text: null,
    ...changes,
  }
}
