import type { Context } from 'hono'
import { html } from 'hono/html'
import { type Html, page } from '../layout.ts'
import { printedLine } from '../parts/printed-text.ts'
import { when } from '../parts/when.ts'
import { csrfField } from '../security/csrf.ts'
import { noSuchMemoryPage } from './away-page.ts'
import type { ChangeName, ChangeState } from './change-job.ts'
import { changePath, memoryPath } from './labels.ts'

const NAMES: Record<ChangeName, { title: string; effect: string }> = {
  revoke: { title: 'The revocation', effect: 'no search will answer with this memory' },
  restore: { title: 'The restoring', effect: 'searches may answer with this memory again' },
}

/** What became of a change: the record where it was done, else a page that says what comes next. */
export function changePage(c: Context, memoryId: string, id: string, state: ChangeState) {
  switch (state.kind) {
    case 'done':
      if (state.notice === null) return noSuchMemoryPage(c, memoryId)
      return c.redirect(`${memoryPath(memoryId)}?notice=${state.notice}`, 303)
    case 'waits':
      return tellPage(c, 'Queued', waitingView(c, memoryId, id, state))
    case 'begun':
      return tellPage(
        c,
        'Being done',
        html`<p class="notice info" role="status">The memory-store has it in hand.</p>
<p>${again(memoryId, id)}</p>`,
      )
    case 'failed':
      return tellPage(
        c,
        'Nothing was changed',
        html`<p class="notice bad" role="alert">${printedLine(state.why, 600)}</p>
<p>It is not tried again by itself: ask for it anew when that is mended. <code>astra doctor</code> says
what to do. <a href="${memoryPath(memoryId)}">To the memory</a></p>`,
        503,
      )
    case 'gone':
      return tellPage(
        c,
        'Nothing waits',
        html`<p class="notice info" role="status">There is no such change of this memory: it was taken back, or it is
from more than a day ago.</p>
<p><a href="${memoryPath(memoryId)}">To the memory</a></p>`,
        404,
      )
  }
}

/** After a change was taken back. */
export function withdrawnPage(c: Context, memoryId: string) {
  return tellPage(
    c,
    'Taken back',
    html`<p class="notice good" role="status">Nothing was changed, and nothing waits any more.</p>
<p><a href="${memoryPath(memoryId)}">To the memory</a></p>`,
  )
}

function waitingView(
  c: Context,
  memoryId: string,
  id: string,
  { name, asked }: Extract<ChangeState, { kind: 'waits' }>,
): Html {
  const { title, effect } = NAMES[name]
  return html`<p class="notice warn" role="status">${title} of memory <code>${memoryId}</code> waits in the queue: the memory-store does not
answer.</p>
<p>It was asked for at ${when(asked.toISOString())} (UTC). As soon as the memory-store is back it is done by
itself, before what is asked later: then ${effect}. This page may be closed; at its
address stands what came of it.</p>
<form class="card" method="post" action="${changePath(memoryId, id)}/withdraw">
${csrfField(c)}
<p>Until then it can be taken back.</p>
<button class="danger">Take it back</button>
</form>
<p>${again(memoryId, id)} <a href="/fleet">The fleet</a> shows whether the memory-store runs;
<code>astra doctor</code> says what to do.</p>`
}

const again = (memoryId: string, id: string) =>
  html`<a href="${changePath(memoryId, id)}">Look again</a>.`

function tellPage(c: Context, title: string, body: Html, status: 200 | 404 | 503 = 200) {
  return page(c, { title, section: 'memories', status, body: html`<h1>${title}</h1>${body}` })
}
