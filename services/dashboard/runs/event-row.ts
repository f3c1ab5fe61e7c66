import { html } from 'hono/html'
import type { DetailsOf, RunEventDetails } from '../../../shared/contracts/run-event-details.ts'
import type { Html } from '../layout.ts'
import { badge } from '../parts/badge.ts'
import { count, usd } from '../parts/money.ts'
import { printedLine } from '../parts/printed-text.ts'
import { timeOfDay } from '../parts/when.ts'
import type { KnownCall } from './known-call.ts'
import type { PlacedEvent } from './read-events.ts'
import { type CallFate, lostRow, searchRow, storeRow, testsRow } from './result-row.ts'
import { named, statusBadge } from './status-badge.ts'

type Calls = ReadonlyMap<string, KnownCall>

const MAX_LINE = 400

/** One event as a row of the timeline. Its id stays the same when it is written anew. */
export function eventRow({ id, event }: PlacedEvent, calls: Calls): Html {
  const { details } = event
  const body = details ? detailed(details, event.text, calls) : plainRow(event)
  return html`<li id="e-${id}" class="event event-${details?.kind ?? event.type}">${timeOfDay(event.at)}<div>${body}</div></li>`
}

function plainRow({ type, text }: PlacedEvent['event']): Html {
  return html`<p>${badge(type, 'quiet')} ${printedLine(text, MAX_LINE)}</p>`
}

function detailed(details: RunEventDetails, text: string, calls: Calls): Html {
  switch (details.kind) {
    case 'started':
      return startedRow(details, text)
    case 'request':
      return requestRow(details, calls)
    case 'response':
      return responseRow(details)
    case 'fault':
      return html`<p>${badge('fault', 'bad')} of request ${details.request}, attempt ${details.attempt}: ${printedLine(text, MAX_LINE)}
${details.cost_microusd > 0 ? html`<span class="muted">charged ${usd(details.cost_microusd)}</span>` : ''}</p>`
    case 'call':
      return callRow(details, calls)
    case 'tests':
      return testsRow(details, fateOf(details.call_id, calls))
    case 'search':
      return searchRow(details, fateOf(details.call_id, calls))
    case 'store':
      return storeRow(details, fateOf(details.call_id, calls))
    case 'lost':
      return lostRow(details, fateOf(details.call_id, calls))
    case 'ended':
      return html`<p>ended: ${statusBadge(details)}</p><p class="said">${printedLine(text, MAX_LINE)}</p>`
  }
}

function startedRow({ limits }: DetailsOf<'started'>, text: string): Html {
  const { max_requests, max_tool_calls, max_tokens, time_seconds, budget_microusd } = limits
  return html`<p>${badge('started', 'info')} ${printedLine(text, MAX_LINE)}</p>
<p class="muted">Limits: ${count(max_requests)} requests, ${count(max_tool_calls)} tool calls, ${count(max_tokens)} tokens, ${count(time_seconds)} s, ${usd(budget_microusd)}</p>`
}

function requestRow(details: DetailsOf<'request'>, calls: Calls): Html {
  const { request, attempt, hold_microusd, delivers, reminder } = details
  return html`<p>${badge(`request ${request}`, 'info')}${attempt > 1 ? ` attempt ${attempt}` : ''}${
    reminder ? html` ${badge('gate: a final answer was sent back', 'bad')}` : ''
  } <span class="muted">at most ${usd(hold_microusd)}</span></p>
${delivers.length === 0 ? '' : html`<ul class="calls">${delivers.map((each) => deliveredItem(each, request, calls))}</ul>`}`
}

function deliveredItem(
  { call_id, tool }: DetailsOf<'request'>['delivers'][number],
  request: number,
  calls: Calls,
): Html {
  if (call_id === null) return html`<li>delivers the memory search that the runner made</li>`
  const call = calls.get(call_id)
  const asked = call ? `asked in request ${call.asked}` : ''
  const late = call !== undefined && request > call.asked + 1
  return html`<li>delivers <code>${printedLine(tool, 60)}</code> ${asked} ${late ? badge(`late: ${request - call.asked} requests on`, 'info') : ''} ${callIdText(call_id)}</li>`
}

function responseRow(details: DetailsOf<'response'>): Html {
  const { request, status, calls, text, tokens, cost_microusd } = details
  return html`<p>${badge('response', 'quiet')} to request ${request} ${status === 'completed' ? '' : badge(status, 'warn')}
<span class="muted">${count(tokens.input)} tokens in (${count(tokens.cached_input)} cached), ${count(tokens.output)} out (${count(tokens.reasoning)} reasoning), ${usd(cost_microusd)}</span></p>
${text.trim() === '' ? '' : html`<p class="said">${printedLine(text, MAX_LINE)}</p>`}
${calls.length === 0 ? '' : html`<ul class="calls">${calls.map((call) => askedItem(call))}</ul>`}`
}

function askedItem({ call_id, tool, async }: DetailsOf<'response'>['calls'][number]): Html {
  return html`<li>asks for <code>${printedLine(tool, 60)}</code> ${async ? badge('asynchronous', 'info') : ''} ${callIdText(call_id)}</li>`
}

const GATES = ['memory_gate', 'confirmed_fix_gate']

function callRow(
  { call_id, tool, request, about, waits, refusal }: DetailsOf<'call'>,
  calls: Calls,
) {
  const gate = refusal !== null && GATES.includes(refusal.code)
  return html`<p><code>${printedLine(tool, 60)}</code> ${printedLine(about, 160)} ${
    refusal === null
      ? ''
      : badge(gate ? `gate: ${named(refusal.code)}` : named(printedLine(refusal.code, 60)), 'bad')
  } ${waits ? badge('job', 'quiet') : ''}</p>
${refusal === null ? '' : html`<p class="said">${printedLine(refusal.message, MAX_LINE)}</p>`}
<p class="muted">${fateOf(call_id, calls)?.fate ?? `asked in request ${request}`} ${callIdText(call_id)}</p>`
}

/** When a call was asked for and when its output reached the model. */
function fateOf(callId: string | null, calls: Calls): CallFate | null {
  const call = calls.get(callId ?? '')
  if (!call) return null
  const delivered =
    call.delivered === null ? 'not delivered yet' : `delivered in request ${call.delivered}`
  return { tool: call.tool, fate: `asked in request ${call.asked}, ${delivered}` }
}

function callIdText(callId: string): Html {
  return html`<span class="call-id" title="call_id">${printedLine(callId, 60)}</span>`
}
