import { html } from 'hono/html'
import type { RunView } from '../../../shared/contracts/run-view.ts'
import type { Html } from '../layout.ts'
import { cost, count } from '../parts/money.ts'
import { printedLine } from '../parts/printed-text.ts'
import { scrollBox } from '../parts/scroll-box.ts'
import { duration, when } from '../parts/when.ts'
import { hasEnded, memoryUsed, statusBadge } from './status-badge.ts'

const MAX_PROMPT = 120

/** Runs, one a row; on a narrow screen one below the other. */
export function runTable(views: RunView[], caption: string, now: Date): Html {
  return scrollBox(
    caption,
    html`<table class="stacked">
<caption>${caption}</caption>
<thead><tr><th scope="col">Run</th><th scope="col">Status</th><th scope="col">Model</th>
<th scope="col" class="num">Requests</th><th scope="col" class="num">Calls</th><th scope="col" class="num">Tests</th>
<th scope="col" class="num">Cost</th><th scope="col">Memory</th><th scope="col">Asked (UTC)</th><th scope="col" class="num">Took</th></tr></thead>
<tbody>${views.map((view) => row(view, now))}</tbody>
</table>`,
  )
}

function row(view: RunView, now: Date): Html {
  const end = view.ended_at ?? now.toISOString()
  return html`<tr>
<th scope="row"><a href="/runs/${encodeURIComponent(view.run_id)}">${view.run_id}</a><span class="prompt">${printedLine(view.prompt, MAX_PROMPT)}</span></th>
<td data-label="Status">${statusBadge(view)}</td>
<td data-label="Model">${printedLine(view.model, 40)}</td>
<td data-label="Requests" class="num">${count(view.requests)}</td>
<td data-label="Calls" class="num">${count(view.tool_calls)}</td>
<td data-label="Tests" class="num">${count(view.tests)}</td>
<td data-label="Cost" class="num">${cost(view)}</td>
<td data-label="Memory">${memoryUsed(view)}</td>
<td data-label="Asked (UTC)">${when(view.created_at)}</td>
<td data-label="Took" class="num">${duration(view.created_at, end)}${hasEnded(view) ? '' : ' so far'}</td>
</tr>`
}
