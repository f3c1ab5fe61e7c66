import { setTimeout as delay } from 'node:timers/promises'
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import type { Logger } from 'pino'
import { crashPoint } from '../../../shared/crash-point.ts'
import type { Deps, ModelAccess } from '../deps.ts'
import { responseTo } from '../journal/conversation.ts'
import { requestDetails } from '../journal/event-details.ts'
import { attemptKey, type Journal } from '../journal/journal.ts'
import { accessOf, settingsOf } from './access-of-run.ts'
import { askModel } from './ask-model.ts'
import { awaitBackground, isDone } from './await-background.ts'
import type { ModelReply } from './client.ts'
import { holdMicrousd } from './prices.ts'
import { recordReply } from './record-reply.ts'
import { type RequestStep, requestBody } from './request.ts'

const FIRST_RETRY_MS = 500
/** A service that wants us back later than this gets the next attempt sooner. */
const MAX_RETRY_MS = 120_000

type Run = { runId: string; journal: Journal }
type Context = { signal: AbortSignal; log: Logger }

/**
 * One attempt of one request: hold the most it can cost, journal that it was sent, send it, journal
 * what came back, settle. Only the first of two processes that try the same attempt sends it.
 */
export async function performRequest(
  deps: Deps,
  run: Run,
  step: RequestStep,
  context: Context,
): Promise<void> {
  const { runId, journal } = run
  const access = accessOf(deps, journal)
  const key = attemptKey(step.request, step.attempt)
  await pauseBeforeRetry(journal, step, context.signal)

  const body = bodyOf(journal, step, access)
  const tokens = inputTokensAtMost(journal, step, body)
  const hold = holdMicrousd(tokens, body.max_output_tokens ?? 0, access.prices)
  if (!(await takeHold(deps, run, access, key, hold))) return
  crashPoint('agent.hold-taken')

  const sent = {
    at: new Date().toISOString(),
    hold_microusd: hold,
    delivers: step.delivers,
    reminder: step.reminder,
  }
  const text = `request ${step.request}${step.attempt > 1 ? `, attempt ${step.attempt}` : ''}`
  const details = requestDetails(journal, step, hold)
  const first = await deps.journal.appendKeyed(runId, 'sent', key, sent, {
    type: 'request',
    text,
    details,
  })
  if (!first) return
  crashPoint('agent.sent-journalled')
  // The journal first: an attempt that only the ledger calls sent could never be told from one that was.
  if (!(await access.ledger.sent(runId, key))) return

  const started = Date.now()
  const reply = await askModel({ ...step, ...askedOf(journal) }, () =>
    access.client.respond(body, context.signal),
  )
  crashPoint('agent.answer-received')
  const id = backgroundId(reply)
  if (id === null) {
    return recordReply(deps, run, { ...step, hold }, reply, context.log)
  }
  const entry = { at: new Date().toISOString(), id }
  await deps.journal.appendKeyed(runId, 'background', key, entry)
  crashPoint('agent.background-journalled')
  const limit = { sentAt: started, timeoutMs: access.timeoutMs }
  const result = await awaitBackground(access.client, id, limit, context.signal)
  return recordReply(deps, run, { ...step, hold }, result, context.log)
}

/** Goes on waiting for an attempt that another process sent, or this one before it crashed. */
export async function performRetrieve(
  deps: Deps,
  run: Run,
  step: { request: number; attempt: number; id: string },
  context: Context,
): Promise<void> {
  const access = accessOf(deps, run.journal)
  const sent = run.journal.sent.get(attemptKey(step.request, step.attempt))
  if (!sent) throw new Error(`attempt ${step.request}.${step.attempt} was never sent`)
  const limit = { sentAt: Date.parse(sent.at), timeoutMs: access.timeoutMs }
  const reply = await awaitBackground(access.client, step.id, limit, context.signal)
  await recordReply(deps, run, { ...step, hold: sent.hold_microusd }, reply, context.log)
}

function askedOf({ start }: Journal) {
  if (!start) throw new Error('a run that has not started asks no model')
  return { mode: start.request.mode, model: start.model }
}

function bodyOf(
  journal: Journal,
  step: RequestStep,
  access: ModelAccess,
): ResponseCreateParamsNonStreaming {
  const body = requestBody(journal, step, settingsOf(journal, access))
  // A background response has to be kept by the service, or it could not be fetched later.
  return access.background ? { ...body, background: true, store: true } : body
}

/** The id of a response that is still at work; null for an answer or a fault. */
function backgroundId(reply: ModelReply): string | null {
  return reply.ok && !isDone(reply.response.status) ? reply.response.id : null
}

/** False when the budget has no room: the run is told so by a journal entry. */
async function takeHold(
  deps: Deps,
  run: Run,
  access: ModelAccess,
  key: string,
  hold: number,
): Promise<boolean> {
  const limits = access.limits(run.journal.start?.request.limits.budget_microusd ?? 0)
  const result = await access.ledger.hold(run.runId, key, hold, limits)
  if (result.granted) return true
  if (result.limit === null) {
    // Another worker was quicker: the journal says so when it is read again.
    const { sent } = await deps.journal.load(run.runId)
    if (sent.has(key)) return false
    throw new Error(`attempt ${key} is ${result.state} in the ledger and unknown to the journal`)
  }
  const needs = (hold / 1e6).toFixed(4)
  const left = (Math.max(0, result.leftMicrousd) / 1e6).toFixed(4)
  const message = `The next request may cost up to $${needs}; the ${result.limit} budget has $${left} left.`
  const entry = { at: new Date().toISOString(), message }
  await deps.journal.append(run.runId, 'budget', entry, { type: 'note', text: message })
  return false
}

/**
 * Bytes are never fewer than tokens. What the body leaves to the chain is known from the last
 * response's usage; a body that holds the whole conversation leaves nothing.
 */
function inputTokensAtMost(
  journal: Journal,
  step: RequestStep,
  body: ResponseCreateParamsNonStreaming,
): number {
  const previous = body.previous_response_id ? responseTo(journal, step.request - 1) : null
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
