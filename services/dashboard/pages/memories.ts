import type { Context } from 'hono'
import { html } from 'hono/html'
import type { Deps } from '../deps.ts'
import { type Html, page } from '../layout.ts'
import { askStore } from '../memory/ask-store.ts'
import { awayPage } from '../memory/away-page.ts'
import { listPath, type MemoryFilter, readFilter } from '../memory/filter.ts'
import { filterForm, searchBox } from '../memory/filter-form.ts'
import { memoryTable } from '../memory/memory-table.ts'
import { findUnproved, unprovedTable } from '../memory/unproved-list.ts'

const PAGE = 25
const MEANWHILE = 'Nothing was changed.'

/** GET /memories: all records, newest first, or those of a filter. */
export const memoriesPage =
  (deps: Deps) =>
  async (c: Context): Promise<Response> => {
    const read = readFilter(c.req.query())
    if ('problem' in read) {
      return page(c, {
        title: 'Memories',
        section: 'memories',
        status: 400,
        body: html`<h1>Memories</h1>
<p class="notice bad" role="alert">This filter cannot be used: ${read.problem}.</p>
<p><a href="/memories">All memories</a></p>`,
      })
    }
    const { filter } = read
    if (filter.state === 'unproved') {
      const found = await findUnproved(deps, filter)
      if (found.kind === 'away') return awayPage(c, found, MEANWHILE)
      return listPage(c, filter, unprovedTable(found.value, filter))
    }
    const listed = await askStore(deps, 'list', {
      limit: PAGE,
      offset: (filter.page - 1) * PAGE,
      session_id: filter.session ?? null,
      error_type: filter.error_type,
      repository_id: filter.repository,
      state: filter.state,
    })
    if (listed.kind === 'away') return awayPage(c, listed, MEANWHILE)
    const { records, total } = listed.value
    const body = records.length === 0 ? nothing(filter, total) : memoryTable(records)
    return listPage(c, filter, html`${body}${pager(filter, total)}`)
  }

function listPage(c: Context, filter: MemoryFilter, list: Html) {
  return page(c, {
    title: 'Memories',
    section: 'memories',
    body: html`<h1>Memories</h1>
${searchBox()}
${filterForm(filter)}
${list}`,
  })
}

function nothing(filter: MemoryFilter, total: number): Html {
  if (total > 0) return html`<p class="empty">There are only ${total}.</p>`
  const { error_type, session, repository, state } = filter
  const isFiltered = [error_type, session, repository, state].some((each) => each !== undefined)
  return isFiltered
    ? html`<p class="empty">No memory fits this filter.</p>`
    : html`<p class="empty">The memory is empty: it fills with each fix that is proved.</p>`
}

function pager(filter: MemoryFilter, total: number): Html {
  const last = Math.max(1, Math.ceil(total / PAGE))
  const link = (to: number, name: string, rel: string) =>
    html`<a rel="${rel}" href="${listPath({ ...filter, page: to })}">${name}</a>`
  return html`<nav class="pages" aria-label="Pages">
<span class="muted">${total} in all, page ${filter.page} of ${last}</span>
${filter.page > 1 ? link(Math.min(filter.page - 1, last), 'Newer', 'prev') : ''}
${filter.page < last ? link(filter.page + 1, 'Older', 'next') : ''}
</nav>`
}
