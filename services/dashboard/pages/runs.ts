import type { Context } from 'hono'
import { html } from 'hono/html'
import { z } from 'zod'
import { runStatusSchema } from '../../../shared/contracts/run.ts'
import type { Deps } from '../deps.ts'
import { type Html, page } from '../layout.ts'
import { count } from '../parts/money.ts'
import { activeRuns, type EndedRuns, endedRuns, type RunFilter } from '../runs/find-runs.ts'
import { runTable } from '../runs/run-table.ts'
import { named } from '../runs/status-badge.ts'

const STATUSES = ['queued', 'running', ...runStatusSchema.options] as const

/** What a form or a link asks for; what makes no sense is as if it was not there. */
const querySchema = z.object({
  status: z.enum(STATUSES).nullable().catch(null),
  text: z.string().trim().max(200).catch(''),
  day: z.iso.date().nullable().catch(null),
  after: z
    .string()
    .regex(/^\d{1,16}:\S{1,64}$/)
    .nullable()
    .catch(null),
})
type Query = z.infer<typeof querySchema>

/** GET /runs: the runs that wait or are under way, then those that ended, newest first. */
export const runsPage = (deps: Deps) => async (c: Context) => {
  const query = querySchema.parse({
    status: c.req.query('status'),
    text: c.req.query('text') ?? '',
    day: c.req.query('day'),
    after: c.req.query('after'),
  })
  const now = deps.now()
  const [active, ended] = await Promise.all([
    query.after === null ? activeRuns(deps, query) : { views: [], more: 0 },
    endedRuns(deps.redis, query, query.after),
  ])
  const body = html`<h1>Runs</h1>
${filterForm(query)}
<section id="active" data-refresh aria-label="Queued and running">
${active.views.length > 0 ? runTable(active.views, `Queued and running: ${count(active.views.length)}`, now) : ''}
${active.more > 0 ? html`<p class="note">And ${count(active.more)} more that wait or run.</p>` : ''}
</section>
<section id="ended" data-refresh aria-label="Ended">
${endedSection(ended, query, now, active.views.length > 0)}
</section>`
  return page(c, { title: 'Runs', section: 'runs', body, scripts: ['live.js'] })
}

function filterForm({ status, text, day }: Query): Html {
  const option = (value: string, label: string) =>
    html`<option value="${value}"${value === (status ?? '') ? html` selected` : ''}>${label}</option>`
  return html`<form class="filters" method="get" action="/runs" role="search">
<div><label for="status">Status</label><select id="status" name="status">${option('', 'any')}${STATUSES.map((each) => option(each, named(each)))}</select></div>
<div class="grow"><label for="text">Words in id, prompt, workspace, model or reason</label><input id="text" name="text" type="search" maxlength="200" value="${text}"></div>
<div><label for="day">Day (UTC)</label><input id="day" name="day" type="date" value="${day ?? ''}"></div>
<div><button>Filter</button> <a class="button quiet" href="/runs">Clear</a></div>
</form>`
}

function endedSection(ended: EndedRuns, query: Query, now: Date, someActive: boolean): Html {
  const { views, next, unreadable } = ended
  const table = views.length > 0 ? runTable(views, 'Ended, newest first', now) : ''
  return html`${table}${views.length === 0 && !someActive ? nothing(query, next) : ''}
${unreadable > 0 ? html`<p class="note">${count(unreadable)} runs were written by another version and cannot be shown.</p>` : ''}
<nav class="pages" aria-label="Pages">
${query.after === null ? '' : html`<a href="${address({ ...query, after: null })}">Newest</a>`}
${next === null ? '' : html`<a href="${address({ ...query, after: next })}" rel="next">Older</a>`}
</nav>`
}

function nothing({ status, text, day, after }: Query, next: string | null): Html {
  if (next !== null) return html`<p class="empty">None among these; older ones may fit.</p>`
  const filtered = status !== null || text !== '' || day !== null || after !== null
  if (filtered) return html`<p class="empty">No run fits.</p>`
  return html`<p class="empty">There are no runs yet. <code>astra fix WORKSPACE --offline</code> makes one.</p>`
}

function address({ status, text, day, after }: RunFilter & { after: string | null }): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ status, text, day, after })) {
    if (value) query.set(name, value)
  }
  return query.size === 0 ? '/runs' : `/runs?${query}`
}
