import { html } from 'hono/html'
import type { ListedMemory } from '../../../shared/contracts/memory.ts'
import type { Html } from '../layout.ts'
import { printedEnd, printedLine } from '../parts/printed-text.ts'
import { when } from '../parts/when.ts'
import { listPath } from './filter.ts'
import { memoryPath, proofBadge, runPath, stateBadge, stateOf } from './labels.ts'

export function memoryTable(records: readonly ListedMemory[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Memories"><table class="stacked">
<thead><tr>
<th scope="col">Fix</th><th scope="col">Error type</th><th scope="col">State and proof</th>
<th scope="col" class="num">Shown</th><th scope="col" class="num">Confirmed</th>
<th scope="col" class="num">Not confirmed</th>
<th scope="col">Stored (UTC)</th><th scope="col">Session, repository</th>
</tr></thead>
<tbody>${records.map(row)}</tbody>
</table></div>
<p class="muted">Shown: how often a search answered with it. Confirmed and not confirmed: runs that
were shown it, by whether they ended with a proved fix.</p>`
}

function row(record: ListedMemory): Html {
  const { memory_id, error_type, session_id, repository_id } = record
  const fix = printedLine(record.fix_description, 90) || memory_id
  return html`<tr>
<th scope="row" class="wide"><a href="${memoryPath(memory_id)}">${fix}</a></th>
<td data-label="Error type"><a href="${listPath({ error_type: error_type.slice(0, 200) })}">${printedLine(error_type, 40)}</a></td>
<td data-label="State and proof" class="nowrap">${stateBadge(stateOf(record))} ${proofBadge(record.proved)}</td>
<td data-label="Shown" class="num">${record.shown}</td>
<td data-label="Confirmed" class="num">${record.confirmed}</td>
<td data-label="Not confirmed" class="num">${record.unconfirmed}</td>
<td data-label="Stored (UTC)">${when(record.timestamp)}</td>
<td data-label="Session, repository" class="nowrap whole"><a class="mono" href="${runPath(session_id)}">${printedEnd(session_id, 14)}</a><br>
${
  repository_id === null
    ? html`<span class="muted">no repository</span>`
    : html`<a class="mono" href="${listPath({ repository: repository_id })}">${printedLine(repository_id, 12)}</a>`
}</td>
</tr>`
}
