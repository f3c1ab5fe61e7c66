import type { Context } from 'hono'
import { html } from 'hono/html'
import { z } from 'zod'
import type { Deps } from '../deps.ts'
import { page } from '../layout.ts'
import { noSuchMemoryPage } from './away-page.ts'
import { type ChangeName, requestChange } from './change-job.ts'
import { changePage } from './change-page.ts'
import { changePath, memoryPath } from './labels.ts'

/** A write of a form: refused without its confirmation, and then back to the record. */
export async function changeState(deps: Deps, c: Context, name: ChangeName): Promise<Response> {
  const memoryId = c.req.param('id') ?? ''
  if (!z.uuid().safeParse(memoryId).success) return noSuchMemoryPage(c, memoryId)
  const { confirm } = await c.req.parseBody()
  if (confirm !== 'yes') return notConfirmedPage(c, memoryId)
  const { id, state } = await requestChange(deps, name, memoryId)
  deps.log.info({ memory_id: memoryId, change: name, state: state.kind }, 'a memory is to change')
  // An address of its own, which can be looked at again.
  if (state.kind === 'waits') return c.redirect(changePath(memoryId, id), 303)
  return changePage(c, memoryId, id, state)
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
