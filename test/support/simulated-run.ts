import {
  allCalls,
  BASELINE,
  type PlacedCall,
  PREFETCH,
  treeVersion,
  verifyKey,
} from '../../services/agent-runner/journal/conversation.ts'
import type { ToolCall } from '../../services/agent-runner/journal/entries.ts'
import {
  addEntry,
  attemptKey,
  callKey,
  emptyJournal,
  type Journal,
} from '../../services/agent-runner/journal/journal.ts'
import { nextStep, type Step } from '../../services/agent-runner/journal/next-step.ts'
import type { RunRequest } from '../../shared/contracts/run.ts'
import { sampleResults } from './memory.ts'
import { responseItems } from './response-items.ts'

const at = '2026-01-01T00:00:00.000Z'

export const runRequest: RunRequest = {
  run_id: 'run-test',
  workspace: '/workspace',
  repository_id: 'repo',
  prompt: 'Fix the failing tests.',
  mode: 'offline',
  recall: 'tool',
  priority: 'normal',
  approve_live_cost: false,
  command: null,
  path_env: '/usr/bin',
  limits: {
    max_requests: 40,
    max_tool_calls: 120,
    max_tokens: 1_000_000,
    max_output_tokens: 1000,
    time_seconds: 600,
    budget_microusd: 1_000_000,
  },
  created_at: at,
}

export const redBaseline = {
  kind: 'red',
  commands: ['node --test'],
  command: 'node --test',
  runner: 'node',
  passed: 2,
  failed: 1,
  output: 'expected 1, got 2',
  symptom: {
    raw: 'AssertionError: expected 1, got 2',
    normalised: 'AssertionError: expected 1, got 2',
    error_type: 'AssertionError',
    language: 'typescript',
    failing: ['test/a.test.ts > adds'],
  },
}

export type Turn = {
  calls?: ToolCall[]
  text?: string
  status?: 'completed' | 'incomplete' | 'failed'
  detail?: string
  inputTokens?: number
}

export function call(
  name: string,
  id: string,
  args: object = {},
  options: Partial<ToolCall> = {},
): ToolCall {
  return {
    call_id: id,
    name,
    arguments: JSON.stringify(args),
    async: false,
    completed: true,
    ...options,
  }
}

export const search = (id: string, handle = id, options: Partial<ToolCall> = { async: true }) =>
  call(
    'search_codebase_memory',
    id,
    { query: 'expected 1', error_type: null, top_k: 3, task_handle: handle },
    options,
  )
export const waitFor = (id: string, ...task_handles: string[]) =>
  call('wait_for_tasks', id, { task_handles })
export const read = (id: string) => call('read_file', id, { path: 'a.ts' })
export const edit = (id: string) =>
  call('apply_edit', id, { path: 'a.ts', old_text: 'a', new_text: 'b' })
export const tests = (id: string) => call('run_tests', id, { command: 'node --test' })

export const noMatches = { matches: [], searched: 0 }

/** Every tool that answers from another process. */
const JOBS = new Set(['search_codebase_memory', 'run_tests', 'store_fix_memory'])

/**
 * Plays the shell around `nextStep`: carries out calls, and leaves it to the test when responses and
 * results come. Nothing of it decides; all decisions are `nextStep`'s.
 */
export class SimulatedRun {
  readonly journal: Journal = emptyJournal()
  /** The journal's entries as Redis holds them. */
  readonly fields: Record<string, string> = {}
  /** The requests that were answered, in order. */
  readonly requests: Extract<Step, { kind: 'request' }>[] = []
  /** Told of each request as it is sent, before the journal says so. */
  onSend: (step: Extract<Step, { kind: 'request' }>) => void = () => {}

  constructor(request: Partial<RunRequest> = {}) {
    const entry = {
      at,
      request: { ...runRequest, ...request },
      model: 'test',
      settings: null,
      refusal: null,
    }
    this.#add('start', entry)
  }

  /** A run whose baseline is red, and with prefetch whose search is done. */
  static red(request: Partial<RunRequest> = {}): SimulatedRun {
    const run = new SimulatedRun(request)
    run.arriveAt(BASELINE, redBaseline)
    if (request.recall === 'prefetch') run.arriveAt(PREFETCH, noMatches)
    return run
  }

  /** Carries out calls until there is something else to do, and returns that. */
  advance(): Step {
    for (;;) {
      const step = nextStep(this.journal)
      if (step.kind === 'abort') this.#output(step.call, 'aborted')
      else if (step.kind === 'call') this.#perform(step.call)
      else return step
    }
  }

  /** Sends the request that is due and answers it. */
  respond(turn: Turn): Step {
    const step = this.send()
    this.answer(step, turn)
    return this.advance()
  }

  /** Journals the request that is due as sent. */
  send(): Extract<Step, { kind: 'request' }> {
    const step = this.advance()
    if (step.kind !== 'request')
      throw new Error(`a request is not due, but ${JSON.stringify(step)}`)
    this.onSend(step)
    const { delivers, reminder } = step
    const entry = { at, hold_microusd: 10, delivers, reminder }
    this.#add(`sent/${attemptKey(step.request, step.attempt)}`, entry)
    return step
  }

  answer(step: Extract<Step, { kind: 'request' }>, turn: Turn): void {
    this.requests.push(step)
    this.#add(`response/${step.request}`, {
      at,
      attempt: step.attempt,
      id: `resp_${step.request}`,
      status: turn.status ?? 'completed',
      detail: turn.detail ?? null,
      invalid: null,
      calls: turn.calls ?? [],
      output: responseItems(step.request, turn),
      text: turn.text ?? '',
      usage: {
        input_tokens: turn.inputTokens ?? 10,
        cached_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 5,
        reasoning_tokens: 0,
      },
      cost_microusd: 5,
    })
  }

  fail(step: Extract<Step, { kind: 'request' }>, fault: { final: boolean; code: string }): void {
    const entry = { at, ...fault, charged: false, message: fault.code, retry_after_ms: null }
    this.#add(`fault/${attemptKey(step.request, step.attempt)}`, entry)
  }

  arrive(callId: string, value: unknown): void {
    this.arriveAt(callKey(callId), value)
  }

  /** Twice is as once, like the inbox's HSETNX. */
  arriveAt(key: string, value: unknown): void {
    if (!this.journal.inbox.has(key)) this.journal.inbox.set(key, { ok: true, value })
  }

  verified(tree: number, value: unknown): void {
    this.arriveAt(verifyKey(tree), value)
  }

  mark(kind: 'cancel' | 'deadline' | 'budget', message: string): void {
    this.#add(kind, { at, message })
  }

  get calls(): PlacedCall[] {
    return allCalls(this.journal)
  }

  #add(field: string, entry: unknown): void {
    this.fields[field] = JSON.stringify(entry)
    addEntry(this.journal, field, entry)
  }

  #perform(placed: PlacedCall): void {
    const key = callKey(placed.call_id)
    if (JOBS.has(placed.name)) {
      this.#add(`job/${key}`, { at, tree: treeVersion(this.journal), patch: null })
      return
    }
    if (placed.name === 'apply_edit') {
      this.#add(`edit/${key}`, { path: 'a.ts', before: 'x', after: 'y' })
    }
    this.#output(placed, `output of ${placed.call_id}`)
  }

  #output(placed: PlacedCall, output: string): void {
    this.#add(`output/${callKey(placed.call_id)}`, { at, output })
  }
}

export const confirmed = {
  confirmed: true,
  command: 'node --test',
  outcome: 'node passed with exit code 0',
  failing_before: ['a'],
  passing_after: ['a'],
  dropped_paths: [],
  receipt: {
    body: {
      version: 2,
      run_id: 'run-test',
      repository_id: null,
      mode: 'A',
      scope: 'complete',
      runner: 'node',
      command: 'node --test',
      outcome: 'node passed with exit code 0',
      base_tree: 'a'.repeat(64),
      patch: 'b'.repeat(64),
      patched_tree: 'c'.repeat(64),
      targets: ['a'],
      target_count: 1,
      flaky: [],
      results: sampleResults,
      canary: ['b'],
      sandboxed: false,
      started_at: at,
      finished_at: at,
      product_version: '0.1.0',
    },
    key_id: 'k',
    signature: 'AAAA',
  },
}

export const unconfirmed = {
  confirmed: false,
  command: 'node --test',
  reason: 'target_not_passing',
  message: 'a still fails',
  failing_before: ['a'],
  passing_after: [],
  dropped_paths: [],
}

export const greenRun = (verification: unknown) => ({
  kind: 'green',
  verification,
  command: 'node --test',
  runner: 'node',
  passed: 3,
  failed: 0,
  output: '',
})
