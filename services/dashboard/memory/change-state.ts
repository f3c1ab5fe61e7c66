import type { Context } from 'hono'
import { html } from 'hono/html'
import { z } from 'zod'
import { page } from '../layout.ts'
import type { Away } from './ask-store.ts'
import { awayPage, noSuchMemoryPage } from './away-page.ts'
import { memoryPath } from './labels.ts'
import type { Notice } from './notices.ts'

export type Change = Away | { kind: 'no_such_memory' } | { kind: 'done'; notice: Notice }

/** A write of a form: refused without its confirmation, and then back to the record. */
export async function changeState(
  c: Context,
  change: (memoryId: string) => Promise<Change>,
): Promise<Response> {
  const id = c.req.param('id') ?? ''
  if (!z.uuid().safeParse(id).success) return noSuchMemoryPage(c, id)
  const { confirm } = await c.req.parseBody()
  if (confirm !== 'yes') return notConfirmedPage(c, id)
  const changed = await change(id)
  switch (changed.kind) {
    case 'away':
      return awayPage(
        c,
        changed,
        'What you asked for may wait in the queue and be done once the memory-store is back: look at the record before you repeat it.',
      )
    case 'no_such_memory':
      return noSuchMemoryPage(c, id)
    case 'done':
      return c.redirect(`${memoryPath(id)}?notice=${changed.notice}`, 303)
  }
}

function notConfirmedPage(c: Context, id: string) {
  return page(c, {
    title: 'Not confirmed',
    section: 'memories',
    status: 400,
    body: html`<h1>Nothing was changed</h1>
<p class="notice bad" role="alert">The form came without its confirmation: set the check mark in it.</p>
<p><a href="${memoryPath(id)}">Back to the memory</a></p>`,
  })
}
