import type { Context } from 'hono'
import { html } from 'hono/html'
import { UsageError } from '../../../shared/errors.ts'
import { type MemoryQuestion, memoryQuestion } from '../../../shared/memory-question.ts'
import type { Deps } from '../deps.ts'
import { type Html, page } from '../layout.ts'
import { askStore } from '../memory/ask-store.ts'
import { awayPage } from '../memory/away-page.ts'
import { searchAnswers } from '../memory/search-answers.ts'
import { searchForm } from '../memory/search-form.ts'
import { readQuestion, type SearchFields } from '../memory/search-question.ts'

const NOTHING: SearchFields = { q: '', error_type: '', repository: '', top_k: 3 }

/** GET and POST /memories/search: asks the memory as a run would, and says why. */
export const memorySearchPage =
  (deps: Deps) =>
  async (c: Context): Promise<Response> => {
    const isLimited = deps.config.ASTRA_MEMORY_SHARING === 'repository'
    const shown = (fields: SearchFields, answer: Html | '', status: 200 | 400 = 200) =>
      page(c, {
        title: 'Search the memory',
        section: 'memories',
        status,
        body: html`<h1>Search the memory</h1>
<p class="muted">As Astra would: secrets are taken out of the text, it is normalised and embedded, and
the memory-store answers same, similar or none. <a href="/memories">All memories</a></p>
${searchForm(c, fields, isLimited)}
${answer}`,
      })
    const read = await readQuestion(c)
    if ('problem' in read) return shown(NOTHING, refusal(read.problem), 400)
    const { fields } = read
    if (c.req.method === 'GET' && fields.q === '') return shown(fields, '')
    const question = await questionOf(deps, fields)
    if ('problem' in question) return shown(fields, refusal(question.problem), 400)
    const payload = { ...question.payload, explain: true }
    const answer = await askStore(deps, 'search', payload, question.texts)
    if (answer.kind === 'away') return awayPage(c, answer, 'A run would go on without its memory.')
    return shown(fields, searchAnswers(answer.value))
  }

function refusal(problem: string): Html {
  return html`<p class="notice bad" role="alert">Nothing was searched: ${problem}.</p>`
}

async function questionOf(
  { scrub }: Deps,
  { q, error_type, repository, top_k }: SearchFields,
): Promise<MemoryQuestion | { problem: string }> {
  const asked = {
    text: q,
    errorType: error_type === '' ? null : error_type,
    topK: top_k,
    repositoryId: repository === '' ? undefined : repository,
  }
  try {
    return await memoryQuestion(asked, scrub)
  } catch (error) {
    if (error instanceof UsageError) return { problem: error.message }
    throw error
  }
}
