import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Deps, ModelAccess } from '../deps.ts'
import { allCalls, responseTo } from '../journal/conversation.ts'
import { attemptKey, type Journal } from '../journal/journal.ts'
import { costMicrousd, holdMicrousd } from './prices.ts'
import { readResponse } from './read-response.ts'
import { type RequestStep, requestBody } from './request.ts'

const FIRST_RETRY_MS = 500
const MAX_RETRY_MS = 30_000

/**
 * One attempt of one request: hold the most it can cost, journal that it was sent, send it, journal
 * what came back, settle. Only the first of two processes that try the same attempt sends it.
 */
export async function performRequest(
  deps: Deps,
  run: { runId: string; journal: Journal },
  step: RequestStep,
  context: { signal: AbortSignal; log: Logger },
): Promise<void> {
  const { runId, journal } = run
  const access = accessOf(deps, journal)
  const key = attemptKey(step.request, step.attempt)
  await pauseBeforeRetry(journal, step, context.signal)

  const body = requestBody(journal, step, access.settings)
  const hold = holdMicrousd(
    inputTokensAtMost(journal, step, body),
    body.max_output_tokens ?? 0,
    access.prices,
  )
  if (!(await takeHold(deps, run, access, key, hold))) return

  const sent = {
    at: new Date().toISOString(),
    hold_microusd: hold,
    delivers: step.delivers,
    reminder: step.reminder,
  }
  const text = `request ${step.request}${step.attempt > 1 ? `, attempt ${step.attempt}` : ''}`
  if (!(await deps.journal.appendKeyed(runId, 'sent', key, sent, { type: 'request', text }))) return

  const started = performance.now()
  const reply = await access.client.respond(body, context.signal)
  const ms = Math.round(performance.now() - started)
  const at = new Date().toISOString()
  if (!reply.ok) {
    context.log.warn({ request: key, ms, code: reply.fault.code }, 'model fault')
    const message = `model fault: ${reply.fault.message}`
    await deps.journal.appendKeyed(
      runId,
      'fault',
      key,
      { at, ...reply.fault },
      { type: 'note', text: message },
    )
    await access.ledger.settle(runId, key, reply.fault.charged ? hold : 0)
    return
  }
  const known = new Set(allCalls(journal).map((call) => call.call_id))
  const read = readResponse(reply.response, known)
  // Without usage nobody knows what it cost, so it cost what was held.
  const cost = read.usage.input_tokens > 0 ? costMicrousd(read.usage, access.prices) : hold
  context.log.info({ request: key, ms, cost, calls: read.calls.length }, 'model answered')
  await deps.journal.appendKeyed(
    runId,
    'response',
    String(step.request),
    { at, attempt: step.attempt, ...read, cost_microusd: cost },
    { type: 'response', text: describe(read.calls, read.text) },
  )
  await access.ledger.settle(runId, key, cost)
}

export function accessOf(deps: Deps, journal: Journal): ModelAccess {
  const mode = journal.start?.request.mode ?? 'live'
  const access = deps.model(mode)
  if (!access) throw new Error(`this agent-runner cannot serve runs in mode ${mode}`)
  return access
}

/** False when the budget has no room: the run is told so by a journal entry. */
async function takeHold(
  deps: Deps,
  run: { runId: string; journal: Journal },
  access: ModelAccess,
  key: string,
  hold: number,
): Promise<boolean> {
  const limits = access.limits(run.journal.start?.request.limits.budget_microusd ?? 0)
  const result = await access.ledger.hold(run.runId, key, hold, limits)
  if (result.granted) return true
  const needs = (hold / 1e6).toFixed(4)
  const left = (Math.max(0, result.leftMicrousd) / 1e6).toFixed(4)
  const message = `The next request may cost up to $${needs}; the ${result.limit} budget has $${left} left.`
  await deps.journal.append(
    run.runId,
    'budget',
    { at: new Date().toISOString(), message },
    { type: 'note', text: message },
  )
  return false
}

/** Bytes are never fewer than tokens; what went before is known from the last response's usage. */
function inputTokensAtMost(journal: Journal, step: RequestStep, body: object): number {
  const previous = responseTo(journal, step.request - 1)
  const before = previous ? previous.usage.input_tokens + previous.usage.output_tokens : 0
  return before + Buffer.byteLength(JSON.stringify(body))
}

async function pauseBeforeRetry(
  journal: Journal,
  step: RequestStep,
  signal: AbortSignal,
): Promise<void> {
  const fault = journal.faults.get(attemptKey(step.request, step.attempt - 1))
  if (!fault) return
  const backoff = FIRST_RETRY_MS * 2 ** (step.attempt - 2)
  const wanted = Math.max(fault.retry_after_ms ?? 0, backoff)
  // Jitter keeps many runs that failed together from coming back together.
  await delay(Math.min(wanted, MAX_RETRY_MS) * (1 + Math.random() / 4), undefined, { signal })
}

function describe(calls: { name: string }[], text: string): string {
  if (calls.length === 0) return text.split('\n')[0]?.slice(0, 160) ?? ''
  return `calls ${calls.map((call) => call.name).join(', ')}`
}
