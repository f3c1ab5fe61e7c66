import type { Context } from 'hono'
import { html } from 'hono/html'
import { catalog, type QueueName } from '../../../shared/contracts/catalog.ts'
import { type Heartbeat, listHeartbeats } from '../../../shared/heartbeat.ts'
import { type QueueState, readQueueStates } from '../../../shared/queue/queue-state.ts'
import type { Deps } from '../deps.ts'
import { type Html, page } from '../layout.ts'
import { spanText } from '../parts/span.ts'

/** A job that waits longer says that there are too few workers, or none. */
const LATE_MS = 60_000

/** GET /fleet: which processes are there, and what waits for them. */
export const fleetPage =
  (deps: Deps) =>
  async (c: Context): Promise<Response> => {
    const [beats, queues] = await Promise.all([
      listHeartbeats(deps.redis),
      readQueueStates(deps.redis),
    ])
    const now = deps.now().getTime()
    const body = html`<h1>Fleet</h1>
<section id="fleet" data-refresh aria-label="Now">
${missing(beats)}
<h2 id="processes">Processes</h2>
${beats.length === 0 ? html`<p class="empty">No process has said that it is there. <code>astra up</code> starts them.</p>` : processTable(beats, now)}
<h2 id="waiting">What waits</h2>
${queueTable(queues, now)}
</section>`
    return page(c, { title: 'Fleet', section: 'fleet', body, scripts: ['live.js'] })
  }

/** The queues that nobody takes jobs from. */
function missing(beats: Heartbeat[]): Html | '' {
  const served = new Set(beats.flatMap(({ queues }) => Object.keys(queues)))
  const names = (Object.keys(catalog) as QueueName[]).filter((name) => !served.has(name))
  if (names.length === 0) return ''
  return html`<p class="notice warn" role="status">Nobody takes jobs from: ${names.join(', ')}. Their jobs wait; <code>astra up</code> starts what is missing.</p>`
}

function processTable(beats: Heartbeat[], now: number): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="processes"><table class="stacked">
<thead><tr><th scope="col">Service</th><th scope="col">Host</th><th scope="col" class="num">Process</th><th scope="col" class="num">Up</th><th scope="col">Version</th><th scope="col">Jobs in hand, of so many at once</th></tr></thead>
<tbody>${beats.map((beat) => processRow(beat, now))}</tbody>
</table></div>`
}

function processRow(beat: Heartbeat, now: number): Html {
  const up = now - Date.parse(beat.started_at)
  const work = Object.entries(beat.queues)
  return html`<tr>
<th scope="row">${beat.service}</th>
<td data-label="Host">${beat.host}</td>
<td data-label="Process" class="num">${beat.pid}</td>
<td data-label="Up" class="num"><time datetime="${beat.started_at}">${spanText(up)}</time></td>
<td data-label="Version">${beat.version}</td>
<td data-label="Jobs in hand">${
    work.length === 0
      ? html`<span class="muted">takes no jobs</span>`
      : work.map(
          ([queue, { in_hand, concurrency }]) =>
            html`<span class="badge ${in_hand > 0 ? 'info' : ''}">${queue} ${in_hand}/${concurrency}</span> `,
        )
  }</td>
</tr>`
}

function queueTable(queues: QueueState[], now: number): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="waiting"><table class="stacked">
<thead><tr><th scope="col">Queue</th><th scope="col" class="num">Waiting</th><th scope="col" class="num">Oldest waits</th><th scope="col" class="num">Active</th><th scope="col" class="num">Delayed</th><th scope="col" class="num">Wait for others</th><th scope="col" class="num">Completed</th><th scope="col" class="num">Failed</th></tr></thead>
<tbody>${queues.map((queue) => queueRow(queue, now))}</tbody>
</table></div>`
}

function queueRow(state: QueueState, now: number): Html {
  const age = state.oldest_waiting_at === null ? null : now - Date.parse(state.oldest_waiting_at)
  return html`<tr>
<th scope="row"><a href="/queues/queue/${state.queue}">${state.queue}</a></th>
<td data-label="Waiting" class="num">${state.waiting}</td>
<td data-label="Oldest waits" class="num">${oldest(age)}</td>
<td data-label="Active" class="num">${state.active}</td>
<td data-label="Delayed" class="num">${state.delayed}</td>
<td data-label="Wait for others" class="num">${state.parents}</td>
<td data-label="Completed" class="num">${state.completed}</td>
<td data-label="Failed" class="num">${state.failed > 0 ? html`<span class="badge bad">${state.failed}</span>` : '0'}</td>
</tr>`
}

function oldest(age: number | null): Html | string {
  if (age === null) return '–'
  return age > LATE_MS ? html`<span class="badge warn">${spanText(age)}</span>` : spanText(age)
}
