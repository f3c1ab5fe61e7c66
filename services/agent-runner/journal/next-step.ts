import type { RunReason, RunStatus } from '../../../shared/contracts/run.ts'
import type { PlacedCall } from './conversation.ts'
import * as conversation from './conversation.ts'
import type { ResponseEntry } from './entries.ts'
import { gateViolations, memoryReady } from './gates.ts'
import { attemptKey, callKey, type Journal } from './journal.ts'
import { isWaitOver } from './wait-for-tasks.ts'

/** What a run needs next. The journal alone decides: no clock, no I/O. */
export type Step =
  | { kind: 'ended' }
  | { kind: 'baseline' }
  | { kind: 'prefetch' }
  | { kind: 'call'; call: PlacedCall }
  /** The call was cut off by the model's end: answer it as aborted, do not carry it out. */
  | { kind: 'abort'; call: PlacedCall }
  | { kind: 'request'; request: number; attempt: number; delivers: string[]; reminder: boolean }
  /** The attempt works in the background: wait for its result. */
  | { kind: 'retrieve'; request: number; attempt: number; id: string }
  | { kind: 'verify'; tree: number }
  /** Nothing can be done until one of these keys is in the inbox. */
  | { kind: 'wait'; for: string[] }
  | { kind: 'finish'; status: RunStatus; reason: RunReason; message: string; text: string | null }

/** How often one request is tried before the run ends. */
export const MAX_ATTEMPTS = 4

export function nextStep(journal: Journal): Step {
  if (!journal.start) return { kind: 'wait', for: [] }
  if (journal.end) return { kind: 'ended' }
  return stopped(journal) ?? prepared(journal) ?? conversed(journal)
}

const finish = (
  status: RunStatus,
  reason: RunReason,
  message: string,
  text: string | null = null,
): Step => ({ kind: 'finish', status, reason, message, text })

const gateClosed = finish(
  'failed',
  'memory_gate',
  'The model edited or answered twice before a memory search output had reached it.',
)

/** Ends that do not depend on where the run is. */
function stopped(journal: Journal): Step | null {
  const { start, cancel, deadline, budget } = journal
  if (start?.refusal) return finish('refused', start.refusal.reason, start.refusal.message)
  if (cancel) return finish('cancelled', 'cancelled_by_user', cancel.message)
  if (deadline) return finish('limit_reached', 'time', deadline.message)
  if (budget) return finish('limit_reached', 'budget', budget.message)
  return null
}

/** What has to be known before the model is asked: red tests and, with prefetch, the memory. */
function prepared(journal: Journal): Step | null {
  const baseline = conversation.outcomeOf(journal, conversation.BASELINE, 'baseline')
  if (!baseline) return begunOr(journal, conversation.BASELINE, { kind: 'baseline' })
  if (!baseline.ok) {
    return finish('failed', 'internal_error', `the baseline could not be run: ${baseline.error}`)
  }
  if (baseline.value.kind === 'unusable') {
    return finish('failed', baseline.value.reason, baseline.value.message)
  }
  if (baseline.value.kind === 'green') {
    return finish(
      'nothing_to_fix',
      'tests_already_green',
      'All tests pass; the model was not asked.',
    )
  }
  if (journal.start?.request.recall !== 'prefetch') return null
  if (journal.inbox.has(conversation.PREFETCH)) return null
  return begunOr(journal, conversation.PREFETCH, { kind: 'prefetch' })
}

function begunOr(journal: Journal, key: string, step: Step): Step {
  return journal.jobs.has(key) ? { kind: 'wait', for: [key] } : step
}

function conversed(journal: Journal): Step {
  const request = conversation.lastRequest(journal)
  if (request === 0) {
    const delivers = journal.inbox.has(conversation.PREFETCH) ? [conversation.PREFETCH] : []
    return ask(journal, 1, delivers, false)
  }
  const response = conversation.responseTo(journal, request)
  return response ? answered(journal, request, response) : unanswered(journal, request)
}

/** The last attempt has no response: it failed, or its sender died while it was under way. */
function unanswered(journal: Journal, request: number): Step {
  const attempts = conversation.attemptsOf(journal, request)
  const fault = journal.faults.get(attemptKey(request, attempts))
  const background = journal.background.get(attemptKey(request, attempts))
  if (background && !fault) {
    return { kind: 'retrieve', request, attempt: attempts, id: background.id }
  }
  if (fault?.final) {
    const refused = fault.code === 'misalignment_policy_violation'
    return finish('failed', refused ? 'model_refused' : 'model_error', fault.message)
  }
  if (attempts >= MAX_ATTEMPTS) {
    const last = fault?.message ?? 'the last attempt was lost in a crash'
    return finish(
      'failed',
      'model_error',
      `the model did not answer in ${attempts} attempts: ${last}`,
    )
  }
  const sent = journal.sent.get(attemptKey(request, attempts))
  const previous = conversation.responseTo(journal, request - 1)
  if (!previous || sent?.reminder) {
    return ask(journal, request, sent?.delivers ?? [], sent?.reminder ?? false)
  }
  // An async result may have arrived since; what the failed attempt carried was not delivered.
  return continued(journal, request - 1, previous)
}

function answered(journal: Journal, request: number, response: ResponseEntry): Step {
  if (response.invalid) return finish('failed', 'model_output_invalid', response.invalid)
  if (response.status === 'failed') {
    return finish(
      'failed',
      'model_error',
      `the model failed: ${response.detail ?? 'no reason given'}`,
    )
  }
  if (gateViolations(journal) > 1) return gateClosed
  return beginCalls(journal, response, request) ?? continued(journal, request, response)
}

/** The first call of the response that nothing was done about, within the run's limits. */
function beginCalls(journal: Journal, response: ResponseEntry, request: number): Step | null {
  const call = response.calls.find(
    (each) => each.name !== 'wait_for_tasks' && !conversation.isBegun(journal, each),
  )
  if (!call) return null
  const limit = journal.start?.request.limits.max_tool_calls ?? 0
  const before = conversation.allCalls(journal).findIndex((each) => each.call_id === call.call_id)
  if (before >= limit) {
    return finish(
      'limit_reached',
      'max_tool_calls',
      `The limit of ${limit} tool calls was reached.`,
    )
  }
  return { kind: call.completed ? 'call' : 'abort', call: { ...call, request } }
}

/** All calls of the last response are begun: send what is there, wait, or end. */
function continued(journal: Journal, request: number, response: ResponseEntry): Step {
  const delivered = conversation.deliveries(journal)
  const calls = conversation.allCalls(journal)
  const open = calls.filter((call) => call.async && !delivered.has(callKey(call.call_id)))
  const arrived = open.filter((call) => conversation.hasOutput(journal, call))
  const ordinary = calls.filter((call) => call.request === request && !call.async)

  if (ordinary.length > 0) {
    const missing = ordinary.filter((call) => !isAnswered(journal, call))
    if (missing.length > 0) return { kind: 'wait', for: waitedFor(journal, missing, open) }
    return ask(journal, request + 1, keysOf([...arrived, ...waitsLast(ordinary)]), false)
  }
  if (arrived.length > 0) return ask(journal, request + 1, keysOf(arrived), false)
  if (open.length > 0) return { kind: 'wait', for: keysOf(open) }
  return concluded(journal, request, response)
}

function isAnswered(journal: Journal, call: PlacedCall): boolean {
  if (call.name !== 'wait_for_tasks') return conversation.hasOutput(journal, call)
  return isWaitOver(journal, call)
}

/** Results go on their own call ids first, the status of the wait goes last. */
function waitsLast(calls: PlacedCall[]): PlacedCall[] {
  const isWait = (call: PlacedCall) => call.name === 'wait_for_tasks'
  return [...calls.filter((call) => !isWait(call)), ...calls.filter(isWait)]
}

function waitedFor(journal: Journal, missing: PlacedCall[], open: PlacedCall[]): string[] {
  const jobs = missing.filter((call) => call.name !== 'wait_for_tasks')
  const tasks = missing.length > jobs.length ? open : []
  return keysOf([...jobs, ...tasks].filter((call) => !conversation.hasOutput(journal, call)))
}

function keysOf(calls: PlacedCall[]): string[] {
  return calls.map((call) => callKey(call.call_id))
}

function ask(journal: Journal, request: number, delivers: string[], reminder: boolean): Step {
  const limits = journal.start?.request.limits
  const used = [...journal.responses.values()].reduce(
    (sum, { usage }) => sum + usage.input_tokens + usage.output_tokens,
    0,
  )
  if (limits && journal.sent.size >= limits.max_requests) {
    const message = `The limit of ${limits.max_requests} model requests was reached.`
    return finish('limit_reached', 'max_requests', message)
  }
  if (limits && used >= limits.max_tokens) {
    return finish(
      'limit_reached',
      'max_tokens',
      `The limit of ${limits.max_tokens} tokens was reached.`,
    )
  }
  const attempt = conversation.attemptsOf(journal, request) + 1
  return { kind: 'request', request, attempt, delivers, reminder }
}

/** A response without calls while nothing is open: the model says that it is done. */
function concluded(journal: Journal, request: number, response: ResponseEntry): Step {
  const text = response.text || null
  if (response.status === 'incomplete') {
    return response.detail === 'content_filter'
      ? finish('failed', 'model_refused', 'the content filter cut the answer off', text)
      : finish('limit_reached', 'max_tokens', `the answer was cut off: ${response.detail}`, text)
  }
  if (!memoryReady(journal, request)) {
    return gateViolations(journal) > 0 ? gateClosed : ask(journal, request + 1, [], true)
  }

  const tree = conversation.treeVersion(journal)
  if (tree === 0) {
    return finish('not_fixed', 'no_edit', 'The model ended without an edit.', text)
  }
  const verification = conversation.currentVerification(journal)
  if (!verification) {
    const key = conversation.verifyKey(tree)
    const outcome = conversation.outcomeOf(journal, key, 'verify')
    if (outcome && !outcome.ok) {
      return finish(
        'failed',
        'internal_error',
        `the tree could not be verified: ${outcome.error}`,
        text,
      )
    }
    return begunOr(journal, key, { kind: 'verify', tree })
  }
  if (verification.confirmed) return finish('fixed', 'tests_pass', verification.outcome, text)
  const reason = verification.reason === 'no_patch' ? 'no_edit' : 'tests_fail'
  return finish('not_fixed', reason, verification.message, text)
}
