import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import { badge } from '../parts/badge.ts'
import { cost, count, usd } from '../parts/money.ts'
import { printedLine, printedText } from '../parts/printed-text.ts'
import { duration, when } from '../parts/when.ts'
import type { RunState } from './read-run.ts'
import { hasEnded, memoryUsed, statusBadge } from './status-badge.ts'

/** How a run stands: live.js replaces it while the run goes on. */
export function runHead(state: RunState): Html {
  const { view } = state
  const model = view.mode === 'offline' ? 'a local stand-in, not Astra' : 'live'
  return html`<section id="run-head" aria-label="How the run stands">
<p>${statusBadge(view)} ${view.message === '' ? '' : printedLine(view.message, 400)}</p>
<dl class="facts">
${fact('Requests', limited(view.requests, state.limits?.max_requests, count))}
${fact('Tool calls', limited(view.tool_calls, state.limits?.max_tool_calls, count))}
${fact('Tokens', limited(view.tokens.total, state.limits?.max_tokens, count))}
${fact('Cost', costFact(state))}
${fact('Tests', counted(view.tests, state))}
${fact('Gate refusals', counted(view.gate_refusals, state))}
${fact('Memory', html`${memoryUsed(view)} ${memoryText(state)}`)}
${fact('Stored', storedFact(state))}
${fact('Asked (UTC)', when(view.created_at))}
${fact('Took', tookFact(state))}
${fact('Model', html`${printedLine(view.model, 60)} <span class="muted">${model}</span>`)}
${fact('Workspace', html`<span class="mono">${printedLine(view.workspace, 200)}</span>`)}
${lacksLimits(state) ? fact('Limits', NOT_RECORDED) : ''}
</dl>
${wayDown(view)}</section>`
}

/** The page is long: what came of the run stands below its timeline. */
function wayDown({ patch, verification, final_text }: RunState['view']): Html | '' {
  const parts = [
    ...(final_text?.trim() ? [html`<a href="#final-text">Final text</a>`] : []),
    ...(patch === null ? [] : [html`<a href="#patch">Patch</a>`]),
    ...(verification === null ? [] : [html`<a href="#tests">Tests and receipt</a>`]),
  ]
  if (parts.length === 0) return ''
  return html`<nav class="pages" aria-label="On this page"><a href="#timeline-title">Timeline</a> ${parts.map((each) => html`${each} `)}</nav>`
}

const NOT_RECORDED = html`<span class="muted">not recorded</span>`

/** Runs of earlier versions did not say what they might take, and counted less. */
const lacksLimits = ({ view, limits }: RunState) => view.status !== 'queued' && limits === null

function counted(value: number, state: RunState): Html {
  return value === 0 && lacksLimits(state) ? NOT_RECORDED : html`${count(value)}`
}

/** What the run was asked. */
export function promptView(prompt: string): Html {
  const { text, left } = printedText(prompt, 4000)
  return html`<details><summary>Prompt</summary><pre class="quoted">${text}${left > 0 ? '…' : ''}</pre></details>`
}

function fact(name: string, value: Html): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

function limited(
  value: number,
  limit: number | undefined,
  format: (value: number) => string,
): Html {
  if (limit === undefined || limit === 0) return html`${format(value)}`
  return html`${format(value)} <span class="muted">of ${format(limit)}</span>
<meter min="0" max="${limit}" value="${Math.min(value, limit)}" aria-label="${format(value)} of ${format(limit)}"></meter>`
}

/** A run's cost against its own budget, and what is held or under way at this moment. */
function costFact({ view, limits, costs }: RunState): Html {
  const budget = view.cost_is_notional ? null : (limits?.budget_microusd ?? costs?.limit_microusd)
  const open = costs && costs.held + costs.sent > 0 ? costs : null
  const spent = Math.round(view.cost_usd * 1e6)
  return html`${budget ? limited(spent, budget, usd) : cost(view)}
${open ? html`<br><span class="muted">held ${usd(open.held)}, sent ${usd(open.sent)}</span>` : ''}`
}

function memoryText({ view: { recall } }: RunState): Html {
  const some = recall.returned.map(
    ({ memory_id, score }) =>
      html` <a href="/memories/${encodeURIComponent(memory_id)}"><code>${memory_id.slice(0, 8)}</code></a> <span class="muted">${score.toFixed(4)}</span>`,
  )
  const searches = `${recall.searches} ${recall.searches === 1 ? 'search' : 'searches'}`
  const who = recall.mode === 'prefetch' ? 'by the runner' : 'by the model'
  return html`<span class="muted">${searches} ${who}</span>${some}`
}

function storedFact({ view }: RunState): Html {
  const { stored_memory_id: id, store_waits } = view
  if (id === null) return html`<span class="muted">nothing</span>`
  return html`<a href="/memories/${encodeURIComponent(id)}"><code>${id.slice(0, 8)}</code></a> ${store_waits ? badge('waits', 'warn') : ''}`
}

function tookFact({ view, limits }: RunState): Html {
  if (view.ended_at !== null) return html`${duration(view.created_at, view.ended_at)}`
  if (hasEnded(view)) return NOT_RECORDED
  const limit = limits
    ? html`<span class="muted">, at most ${count(limits.time_seconds)} s</span>`
    : ''
  return html`${view.status === 'queued' ? 'not begun' : 'under way'}${limit}`
}
