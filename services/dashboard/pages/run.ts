import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import { runIdSchema } from '../../../shared/contracts/ids.ts'
import type { Deps } from '../deps.ts'
import { page } from '../layout.ts'
import { readEvents } from '../runs/read-events.ts'
import { limitsIn, readRun } from '../runs/read-run.ts'
import { promptView, runHead } from '../runs/run-head.ts'
import { runOutcome } from '../runs/run-outcome.ts'
import { hasEnded } from '../runs/status-badge.ts'
import { createTimeline } from '../runs/timeline.ts'

/** GET /runs/:id: one run from its beginning to its end, live while it goes on. */
export const runPage = (deps: Deps) => async (c: Context) => {
  const id = runIdSchema.safeParse(c.req.param('id'))
  if (!id.success) return c.notFound()
  const events = await readEvents(deps.redis, id.data)
  const state = await readRun(deps, id.data, limitsIn(events))
  if (!state) return c.notFound()
  const timeline = createTimeline()
  for (const event of events) await timeline.add(event)
  const live = !hasEnded(state.view)
  const address = `/runs/${encodeURIComponent(id.data)}/events?after=${events.at(-1)?.id ?? '0'}`
  const body = html`<h1>Run ${id.data}</h1>
${runHead(state)}
${promptView(state.view.prompt)}
<h2 id="timeline-title">Timeline <span class="muted">(UTC)</span></h2>
${live ? html`<p id="live-state" class="muted" role="status" data-events="${address}">Live.</p>` : ''}
<ol id="timeline" class="timeline">${
    // Rows are whole pieces of HTML already, their values escaped.
    timeline.rows().map((row) => raw(row.html))
  }</ol>
${events.length === 0 && !live ? html`<p class="empty">Its events are not kept any more.</p>` : ''}
${runOutcome(state.view, timeline.receipt())}`
  return page(c, { title: `Run ${id.data}`, section: 'runs', body, scripts: ['live.js'] })
}
