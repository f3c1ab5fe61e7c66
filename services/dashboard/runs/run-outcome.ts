import { html } from 'hono/html'
import type { ReceiptSummary } from '../../../shared/contracts/run-event-details.ts'
import type { RunView } from '../../../shared/contracts/run-view.ts'
import type { Html } from '../layout.ts'
import { badge } from '../parts/badge.ts'
import { diffView } from '../parts/diff.ts'
import { count } from '../parts/money.ts'
import { printedLine } from '../parts/printed-text.ts'
import { quoted } from '../parts/quoted.ts'
import { scrollBox } from '../parts/scroll-box.ts'
import { when } from '../parts/when.ts'

/** More tests than these are only counted. */
const MAX_TESTS = 200

/** What came out of a run so far: live.js replaces it while the run goes on. */
export function runOutcome(view: RunView, receipt: ReceiptSummary | null): Html {
  return html`<div id="run-outcome">
${view.final_text === null || view.final_text.trim() === '' ? '' : html`<h2 id="final-text">Final text</h2>${quoted(view.final_text, 'Final text of the model')}`}
${view.patch === null ? '' : html`<h2 id="patch">Patch</h2>${diffView(view.patch)}`}
${view.dropped_paths.length === 0 ? '' : html`<p class="notice warn">Left out, because tests and their configuration stay as they are: ${view.dropped_paths.map((path) => html`<code>${printedLine(path, 200)}</code> `)}</p>`}
${view.verification === null ? '' : html`<h2 id="tests">Tests before and after</h2>${testTable(view.verification)}`}
${receipt === null ? withoutReceipt(view) : html`<h2>Receipt</h2>${receiptView(receipt, view.run_id)}`}
</div>`
}

/** A confirmed outcome has a receipt, whether or not a run of that time told of it. */
function withoutReceipt({ verification, run_id }: RunView): Html | '' {
  if (!verification?.outcome) return ''
  return html`<h2>Receipt</h2><p class="empty">Not recorded: this run is of a version that did not tell what its receipt says. <code>astra verify ${run_id}</code> proves its patch again.</p>`
}

function testTable(verification: NonNullable<RunView['verification']>): Html {
  const { command, failing_before, passing_after, outcome } = verification
  const after = new Set(passing_after)
  const more = failing_before.length - MAX_TESTS
  return html`<p><code>${printedLine(command, 200)}</code>: ${outcome === null ? badge('not confirmed', 'warn') : badge(printedLine(outcome, 100), 'good')}</p>
${scrollBox(
  'Tests',
  html`<table class="stacked">
<caption>${count(failing_before.length)} failed before; they were run again on the original test files</caption>
<thead><tr><th scope="col">Test</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${failing_before
    .slice(0, MAX_TESTS)
    .map(
      (name) =>
        html`<tr><th scope="row" class="test-name">${printedLine(name, 300)}</th><td data-label="Before">${badge('red', 'bad')}</td><td data-label="After">${after.has(name) ? badge('green', 'good') : badge('not passing', 'warn')}</td></tr>`,
    )}</tbody></table>`,
)}
${more > 0 ? html`<p class="note">And ${count(more)} more.</p>` : ''}`
}

const RUNS = [
  ['b1', 'Base, all tests'],
  ['p1', 'Patched, all tests'],
  ['b2', 'Base, the targets again'],
  ['p2', 'Patched, the targets again'],
] as const

function receiptView(receipt: ReceiptSummary, runId: string): Html {
  const { key_id, runner, scope, mode, sandboxed, finished_at, patch, results } = receipt
  return html`<dl class="facts">
<div><dt>Runner</dt><dd>${runner}</dd></div>
<div><dt>Targets</dt><dd>${count(receipt.target_count)}</dd></div>
<div><dt>Scope</dt><dd>${scope}, tests of the ${mode === 'A' ? 'base' : 'head'}</dd></div>
<div><dt>Canaries seen failing</dt><dd>${count(receipt.canaries)}</dd></div>
<div><dt>Flaky</dt><dd>${count(receipt.flaky)}</dd></div>
<div><dt>Sandbox</dt><dd>${sandboxed ? badge('confined', 'good') : badge('not confined', 'warn')}</dd></div>
<div><dt>Proved (UTC)</dt><dd>${when(finished_at)}</dd></div>
<div><dt>Key</dt><dd class="mono">${printedLine(key_id, 80)}</dd></div>
<div><dt>Patch</dt><dd class="mono">${patch.slice(0, 16)}</dd></div>
</dl>
${scrollBox(
  'Runs of the proof',
  html`<table class="stacked four"><caption>The four runs of the proof. The targets are run again beside tests that must fail, which only the exit code counts. <code>astra verify ${runId}</code> makes them again</caption>
<thead><tr><th scope="col">Run</th><th scope="col" class="num">Passed</th><th scope="col" class="num">Failed</th><th scope="col" class="num">Skipped</th><th scope="col" class="num">Exit code</th></tr></thead>
<tbody>${RUNS.map(([key, name]) => {
    const { passed, failed, skipped, exit_code } = results[key]
    return html`<tr><th scope="row">${name}</th><td data-label="Passed" class="num">${count(passed)}</td><td data-label="Failed" class="num">${count(failed)}</td><td data-label="Skipped" class="num">${count(skipped)}</td><td data-label="Exit code" class="num">${exit_code}</td></tr>`
  })}</tbody></table>`,
)}`
}
