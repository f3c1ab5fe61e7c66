import type { Logger } from 'pino'
import { crashPoint } from '../../../shared/crash-point.ts'
import type { Deps } from '../deps.ts'
import { allCalls, responseTo } from '../journal/conversation.ts'
import { excerptOf, responseDetails } from '../journal/event-details.ts'
import { attemptKey, type Journal } from '../journal/journal.ts'
import { accessOf, settingsOf } from './access-of-run.ts'
import type { ModelReply } from './client.ts'
import type { ModelFault } from './faults.ts'
import { costMicrousd } from './prices.ts'
import { readResponse } from './read-response.ts'

type Attempt = { request: number; attempt: number; hold: number }

/** Journals what came of an attempt before anything is done about it, and settles what it cost. */
export async function recordReply(
  deps: Deps,
  run: { runId: string; journal: Journal },
  attempt: Attempt,
  reply: ModelReply,
  log: Logger,
): Promise<void> {
  if (!reply.ok) return recordFault(deps, run, attempt, reply.fault, log)
  const { runId, journal } = run
  const access = accessOf(deps, journal)
  const known = new Set(allCalls(journal).map((call) => call.call_id))
  const chained = settingsOf(journal, access).chain === 'previous'
  const previous = chained ? responseTo(journal, attempt.request - 1) : undefined
  const read = readResponse(reply.response, known, previous?.id ?? null)
  // Without usage nobody knows what it cost, so it cost what was held.
  const counted = read.usage.input_tokens > 0
  const cost = counted ? costMicrousd(read.usage, access.prices) : attempt.hold
  const key = attemptKey(attempt.request, attempt.attempt)
  log.info({ request: key, cost, calls: read.calls.length }, 'model answered')
  const first = await deps.journal.appendKeyed(
    runId,
    'response',
    String(attempt.request),
    { at: new Date().toISOString(), attempt: attempt.attempt, ...read, cost_microusd: cost },
    {
      type: 'response',
      text: describe(read.calls, read.text),
      details: responseDetails(attempt, read, cost),
    },
  )
  crashPoint('agent.response-journalled')
  // Another attempt's answer counts already: this one is charged as the journal has it, as lost.
  await access.ledger.settle(runId, key, first ? cost : attempt.hold)
  crashPoint('agent.settled')
}

async function recordFault(
  deps: Deps,
  run: { runId: string; journal: Journal },
  attempt: Attempt,
  fault: ModelFault,
  log: Logger,
): Promise<void> {
  const key = attemptKey(attempt.request, attempt.attempt)
  log.warn({ request: key, code: fault.code }, 'model fault')
  const entry = { at: new Date().toISOString(), ...fault }
  const text = `model fault: ${fault.message}`
  const cost = fault.charged ? attempt.hold : 0
  const { request, attempt: nth } = attempt
  const { final } = fault
  const code = excerptOf(fault.code)
  await deps.journal.appendKeyed(run.runId, 'fault', key, entry, {
    type: 'note',
    text,
    details: { kind: 'fault', request, attempt: nth, code, final, cost_microusd: cost },
  })
  const { ledger } = accessOf(deps, run.journal)
  await ledger.settle(run.runId, key, cost)
}

function describe(calls: { name: string }[], text: string): string {
  if (calls.length === 0) return text.split('\n')[0]?.slice(0, 160) ?? ''
  return `calls ${calls.map((call) => call.name).join(', ')}`
}
