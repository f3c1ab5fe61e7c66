import type { Context } from 'hono'
import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import { csrfField } from '../security/csrf.ts'
import type { SearchFields } from './search-question.ts'

const COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

export function searchForm(
  c: Context,
  { q, error_type, repository, top_k }: SearchFields,
  isLimited: boolean,
): Html {
  return html`<form class="card" method="post" action="/memories/search" role="search">
${csrfField(c)}
<p><label for="q">Text of the failure</label>
<textarea id="q" name="q" maxlength="20000" rows="6" required>
${q}</textarea></p>
<div class="filters">
<div><label for="error_type">Error type, as a filter</label>
<input id="error_type" name="error_type" maxlength="200" value="${error_type}"></div>
<div><label for="repository">As a run of repository${isLimited ? '' : ' (all are shared)'}</label>
<input id="repository" name="repository" maxlength="200" value="${repository}"></div>
<div><label for="top_k">Answers at most</label>
<select id="top_k" name="top_k">${COUNTS.map(
    (n) => html`<option${n === top_k ? html` selected` : ''}>${n}</option>`,
  )}</select></div>
<button>Search</button>
</div>
</form>`
}
