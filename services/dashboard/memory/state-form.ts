import type { Context } from 'hono'
import { html } from 'hono/html'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { Html } from '../layout.ts'
import { csrfField } from '../security/csrf.ts'
import { memoryPath } from './labels.ts'

/** Takes a record out of every search, or back; what it will do is confirmed in the form itself. */
export function stateForm(c: Context, { memory_id, revoked_at }: MemoryRecord): Html {
  const isRevoked = revoked_at !== null
  const confirm = isRevoked
    ? 'Yes, searches may answer with this memory again'
    : 'Yes, no search may answer with this memory any more; it stays listed and can be restored'
  return html`<form class="card" method="post" action="${memoryPath(memory_id)}/${isRevoked ? 'restore' : 'revoke'}">
${csrfField(c)}
<p><label><input type="checkbox" name="confirm" value="yes" required> ${confirm}</label></p>
${isRevoked ? html`<button>Restore</button>` : html`<button class="danger">Revoke</button>`}
</form>`
}
