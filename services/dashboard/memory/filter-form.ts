import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import { type MemoryFilter, shownStates } from './filter.ts'

export function filterForm({ error_type, session, repository, state }: MemoryFilter): Html {
  const option = (value: string, name: string) =>
    html`<option value="${value}"${value === (state ?? '') ? html` selected` : ''}>${name}</option>`
  return html`<form class="filters" method="get" action="/memories" aria-label="Filter">
<div><label for="state">State</label>
<select id="state" name="state">${option('', 'any')}${shownStates.map((each) => option(each, each))}</select></div>
${textField('error_type', 'Error type', error_type)}
${textField('session', 'Session (run)', session)}
${textField('repository', 'Repository', repository)}
<button>Filter</button>
<a class="button quiet" href="/memories">All</a>
</form>`
}

/** A short search, in the address; the page of the search takes longer texts. */
export function searchBox(): Html {
  return html`<form class="filters" method="get" action="/memories/search" role="search">
<div class="grow"><label for="q">Search as Astra would, by the text of a failure</label>
<input id="q" name="q" maxlength="1000" required></div>
<button>Search</button>
<a class="button quiet" href="/memories/search">Longer text</a>
</form>`
}

function textField(name: string, label: string, value: string | undefined): Html {
  return html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" maxlength="200" value="${value ?? ''}"></div>`
}
