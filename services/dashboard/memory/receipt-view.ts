import { html } from 'hono/html'
import type { ProofProblem } from '../../../shared/contracts/memory.ts'
import type { ProvedRun, Receipt } from '../../../shared/contracts/receipt.ts'
import type { Html } from '../layout.ts'
import { printedLine, printedText } from '../parts/printed-text.ts'
import { duration, when } from '../parts/when.ts'
import { proofBadge } from './labels.ts'

/** The receipt of a record, and whether it proves that record now. */
export function receiptView(receipt: Receipt | null, unproved: ProofProblem | null): Html {
  const verdict = unproved
    ? html`${unproved.message} (<code>${unproved.reason}</code>). No search calls this record the same failure.`
    : html`a trusted key signed a receipt of exactly this run, outcome, runner, repository and tests, and the
fix is what was stored. Symptom and diff are the word of whoever stored them.`
  return html`<p>${proofBadge(unproved === null)} ${verdict}</p>
${receipt === null ? html`<p class="empty">There is no receipt.</p>` : body(receipt)}`
}

function body({ body, key_id }: Receipt): Html {
  const { b1, p1, b2, p2 } = body.results
  const named = `${body.target_count} that failed before and pass after`
  return html`<dl class="facts">
<div><dt>Runner</dt><dd>${body.runner}</dd></div>
<div><dt>Command</dt><dd><code>${printedLine(body.command, 300)}</code></dd></div>
<div><dt>Outcome</dt><dd>${body.outcome}</dd></div>
<div><dt>Sandbox</dt><dd>${body.sandboxed ? 'yes' : 'no: the tests ran unconfined'}</dd></div>
<div><dt>Scope</dt><dd>${body.scope}${body.scope === 'partial' ? ': other tests still fail' : ''}</dd></div>
<div><dt>Key</dt><dd><code>${key_id.slice(0, 100)}</code></dd></div>
<div><dt>Proved (UTC)</dt><dd>${when(body.finished_at)}, in ${duration(body.started_at, body.finished_at)}</dd></div>
<div><dt>Version</dt><dd>${body.product_version.slice(0, 40)}</dd></div>
</dl>
<div class="scroll" tabindex="0" role="region" aria-label="The four runs of the proof"><table class="stacked four">
<thead><tr><th scope="col">Run</th><th scope="col" class="num">Passed</th>
<th scope="col" class="num">Failed</th><th scope="col" class="num">Skipped</th>
<th scope="col" class="num">Exit code</th></tr></thead>
<tbody>${run('All tests, without the patch', b1)}${run('All tests, with the patch', p1)}${run(
    'Its tests beside planted ones that must fail, without the patch',
    b2,
  )}${run('The same, with the patch', p2)}</tbody></table></div>
${names('Tests', named, body.targets)}
${body.flaky.length > 0 ? names('Flaky', 'left out: they differed between two runs of one tree', body.flaky) : ''}
<details><summary>Digests and planted tests</summary>
<dl class="facts">
<div><dt>Tree before</dt><dd><code>${body.base_tree}</code></dd></div>
<div><dt>Patch</dt><dd><code>${body.patch}</code></dd></div>
<div><dt>Tree after</dt><dd><code>${body.patched_tree}</code></dd></div>
</dl>
${names('Planted', 'had to fail on the patched tree, and did', body.canary)}</details>`
}

function run(name: string, { passed, failed, skipped, exit_code }: ProvedRun): Html {
  return html`<tr><th scope="row" class="wide">${name}</th><td data-label="Passed" class="num">${passed}</td>
<td data-label="Failed" class="num">${failed}</td><td data-label="Skipped" class="num">${skipped}</td><td data-label="Exit code" class="num">${exit_code}</td></tr>`
}

const MAX_NAMES = 200

function names(title: string, what: string, list: readonly string[]): Html {
  const shown = list.slice(0, MAX_NAMES)
  return html`<h3>${title}: ${what}</h3>
<ul>${shown.map((name) => html`<li><code>${printedText(name, 500).text}</code></li>`)}</ul>
${list.length > shown.length ? html`<p class="muted">${list.length - shown.length} more are not shown.</p>` : ''}`
}
