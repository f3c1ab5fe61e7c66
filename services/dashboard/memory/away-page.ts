import type { Context } from 'hono'
import { html } from 'hono/html'
import { page } from '../layout.ts'
import { printedLine } from '../parts/printed-text.ts'

/** `meanwhile`: what becomes of what was asked for. */
export function awayPage(c: Context, { why }: { why: string }, meanwhile: string) {
  return page(c, {
    title: 'Memory unavailable',
    section: 'memories',
    status: 503,
    body: html`<h1>Memory unavailable</h1>
<p class="notice bad" role="alert">${printedLine(why, 600)}</p>
<p>${meanwhile}</p>
<p><a href="/fleet">The fleet</a> shows whether the memory-store and the embedder run;
<code>astra doctor</code> says what to do. <a href="/memories">All memories</a></p>`,
  })
}

export function noSuchMemoryPage(c: Context, id: string) {
  return page(c, {
    title: 'No such memory',
    section: 'memories',
    status: 404,
    body: html`<h1>No such memory</h1>
<p class="notice bad" role="alert">There is no memory ${id.slice(0, 100)}: it was deleted, or the
address is wrong.</p>
<p><a href="/memories">All memories</a></p>`,
  })
}
