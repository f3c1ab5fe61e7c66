import type { Context } from 'hono'
import { html } from 'hono/html'
import { z } from 'zod'
import type { Result } from '../../../shared/contracts/catalog.ts'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { Deps } from '../deps.ts'
import { type Html, page } from '../layout.ts'
import { askStore } from '../memory/ask-store.ts'
import { awayPage, noSuchMemoryPage } from '../memory/away-page.ts'
import { listPath } from '../memory/filter.ts'
import { historyOf, type Moment } from '../memory/history.ts'
import { memoryPath, proofBadge, runPath, stateBadge, stateOf } from '../memory/labels.ts'
import { noticeView } from '../memory/notices.ts'
import { receiptView } from '../memory/receipt-view.ts'
import { stateForm } from '../memory/state-form.ts'
import { diffView } from '../parts/diff.ts'
import { printedLine } from '../parts/printed-text.ts'
import { quoted } from '../parts/quoted.ts'
import { when } from '../parts/when.ts'

type Shown = Result<'memory', 'get'> & { record: MemoryRecord }

/** GET /memories/:id: one record with all that is known of it. */
export const memoryPage =
  (deps: Deps) =>
  async (c: Context): Promise<Response> => {
    const id = c.req.param('id') ?? ''
    if (!z.uuid().safeParse(id).success) return noSuchMemoryPage(c, id)
    const answer = await askStore(deps, 'get', { memory_id: id })
    if (answer.kind === 'away') return awayPage(c, answer, 'Nothing was changed.')
    const { record } = answer.value
    if (record === null) return noSuchMemoryPage(c, id)
    return page(c, {
      title: `Memory ${id.slice(0, 8)}`,
      section: 'memories',
      body: recordView(c, { ...answer.value, record }),
    })
  }

function recordView(c: Context, shown: Shown): Html {
  const { record, unproved, expired, stands_for } = shown
  return html`<h1>Memory <code>${record.memory_id}</code></h1>
${noticeView(c.req.query('notice'))}
<p>${stateBadge(stateOf({ ...record, expired }))} ${proofBadge(unproved === null)}
<a href="${listPath({ error_type: record.error_type.slice(0, 200) })}">${printedLine(record.error_type, 100)}</a></p>
<p class="muted">Text in boxes is quoted: a model or a test wrote it.</p>
<h2>Fix</h2>
${quoted(record.fix_description, 'The fix, in the words of the model')}
${facts(record)}
<h2>Symptom</h2>
${symptomView(record)}
<h2>Diff</h2>
${record.diff === '' ? html`<p class="empty">No diff was kept.</p>` : diffView(record.diff)}
<h2>Receipt</h2>
${receiptView(record.receipt, unproved)}
<h2>History</h2>
<ul>${historyOf(record, stands_for).map(momentView)}</ul>
<h2>${record.revoked_at === null ? 'Revoke' : 'Restore'}</h2>
${stateForm(c, record)}`
}

function facts(record: MemoryRecord): Html {
  const { session_id, repository_id, group, scrubbed } = record
  const none = html`<span class="muted">none</span>`
  const removed = scrubbed.map(({ rule, count }) => `${rule} (${count})`).join(', ')
  return html`<dl class="facts">
<div><dt>Files</dt><dd>${record.file_paths.map((path) => html`<code>${printedLine(path, 200)}</code><br>`)}</dd></div>
<div><dt>Confirmed</dt><dd>${when(record.timestamp)}</dd></div>
<div><dt>Session</dt><dd><a href="${runPath(session_id)}"><code>${printedLine(session_id, 60)}</code></a></dd></div>
<div><dt>Repository</dt><dd>${repository_id === null ? none : html`<a href="${listPath({ repository: repository_id })}"><code>${printedLine(repository_id, 60)}</code></a>`}</dd></div>
<div><dt>Group</dt><dd>${group === null ? none : printedLine(group, 60)}</dd></div>
<div><dt>Language</dt><dd>${record.language ?? none}</dd></div>
<div><dt>Model</dt><dd>${printedLine(record.model, 60) || none}</dd></div>
<div><dt>Shown by searches</dt><dd>${record.shown}</dd></div>
<div><dt>Runs that saw it: fixed</dt><dd>${record.confirmed}</dd></div>
<div><dt>Runs that saw it: not fixed</dt><dd>${record.unconfirmed}</dd></div>
<div><dt>Secrets taken out</dt><dd>${removed === '' ? none : printedLine(removed, 300)}</dd></div>
</dl>`
}

function symptomView({ symptom, symptom_raw }: MemoryRecord): Html {
  if (symptom === '' && symptom_raw === '') {
    return html`<p class="empty">No symptom was kept: it is found by its fix alone.</p>`
  }
  return html`<h3>Normalised: what searches compare</h3>
${quoted(symptom, 'The normalised symptom')}
<details><summary>As it was printed</summary>
${quoted(symptom_raw, 'The symptom as it was printed')}</details>`
}

function momentView({ at, what, memory, run }: Moment): Html {
  return html`<li>${at === null ? '' : html`${when(at)} `}${what}${
    memory === undefined ? '' : html` <a href="${memoryPath(memory)}"><code>${memory}</code></a>`
  }${run === undefined ? '' : html` <a href="${runPath(run)}"><code>${printedLine(run, 60)}</code></a>`}</li>`
}
