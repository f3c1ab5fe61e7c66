import { html } from 'hono/html'
import type { VerifyResult } from '../../../shared/contracts/memory.ts'
import type { Deps } from '../deps.ts'
import type { Html } from '../layout.ts'
import { printedLine } from '../parts/printed-text.ts'
import { type Answer, askStore } from './ask-store.ts'
import { listPath, type MemoryFilter } from './filter.ts'
import { memoryPath, runPath } from './labels.ts'

/** A job looks at fewer records than it may name. */
const NAMED = 1000
/** Enough for a page: the rest is looked at when somebody goes on. */
const ENOUGH = 25
const MAX_MS = 4_000

export type Unproved = Pick<VerifyResult, 'named' | 'next'> & { checked: number }

/** Looks at the receipts of records from `after` on, until there is a page of unproved ones. */
export async function findUnproved(
  deps: Deps,
  { after, error_type, session, repository }: MemoryFilter,
): Promise<Answer<Unproved>> {
  const found: Unproved = { checked: 0, named: [], next: after ?? null }
  const deadline = Date.now() + MAX_MS
  do {
    const answer = await askStore(deps, 'verify', {
      after: found.next,
      named: NAMED,
      ...(error_type !== undefined && { error_type }),
      ...(session !== undefined && { session_id: session }),
      ...(repository !== undefined && { repository_id: repository }),
    })
    if (answer.kind === 'away') return answer
    const { proved, named, next } = answer.value
    found.checked += proved + named.length
    found.named.push(...named)
    found.next = next
  } while (found.next !== null && found.named.length < ENOUGH && Date.now() < deadline)
  return { kind: 'answer', value: found }
}

export function unprovedTable({ checked, named, next }: Unproved, filter: MemoryFilter): Html {
  const rows = named.map(
    ({ memory_id, session_id, reason, message }) => html`<tr>
<th scope="row"><a class="mono" href="${memoryPath(memory_id)}">${memory_id}</a></th>
<td data-label="Session" class="whole"><a class="mono" href="${runPath(session_id)}">${printedLine(session_id, 40)}</a></td>
<td data-label="Reason" class="whole">${reason.replaceAll('_', ' ')}</td>
<td data-label="What is wrong" class="whole">${printedLine(message, 300)}</td>
</tr>`,
  )
  return html`<p>${named.length} of the ${checked} records that were checked here are unproved:
no search calls them the same failure.</p>
${
  named.length === 0
    ? ''
    : html`<div class="scroll" tabindex="0" role="region" aria-label="Unproved memories"><table class="stacked">
<thead><tr><th scope="col">Memory</th><th scope="col">Session</th><th scope="col">Reason</th>
<th scope="col">What is wrong</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}
${
  next === null
    ? html`<p class="muted">These are all.</p>`
    : html`<nav class="pages" aria-label="Pages"><a href="${listPath({ ...filter, page: undefined, after: next })}">Check further records</a></nav>`
}`
}
