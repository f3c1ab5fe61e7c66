import { html } from 'hono/html'
import type { DetailsOf } from '../../../shared/contracts/run-event-details.ts'
import type { Html } from '../layout.ts'
import { badge, type Tone } from '../parts/badge.ts'
import { count } from '../parts/money.ts'
import { printedLine } from '../parts/printed-text.ts'
import { named } from './status-badge.ts'

const MAX_LINE = 400
const PURPOSES = { baseline: 'baseline', run: 'tests', verify: 'verification' }
const VERDICTS: Record<'red' | 'green' | 'unusable', Tone> = {
  red: 'bad',
  green: 'good',
  unusable: 'warn',
}

/** The call that a result is for, when it was asked for and when delivered; null: the runner's own. */
export type CallFate = { tool: string; fate: string }

export function testsRow(details: DetailsOf<'tests'>, fate: CallFate | null): Html {
  const { purpose, verdict, command, passed, failed, failing, message, proof } = details
  return html`<p>${PURPOSES[purpose]} ${verdict === null ? '' : badge(verdict, VERDICTS[verdict])} ${proofBadge(details)}
${verdict === null ? '' : html`<span class="muted">${count(passed)} passed, ${count(failed)} failed</span>`} <code>${printedLine(command, 120)}</code></p>
${failing.length === 0 ? '' : html`<ul class="calls">${failing.map((name) => html`<li class="failing">${printedLine(name, 200)}</li>`)}</ul>`}
${message === '' ? '' : html`<p class="said">${printedLine(message, MAX_LINE)}</p>`}
${proof && proof.message !== '' ? html`<p class="said">${printedLine(proof.message, MAX_LINE)}</p>` : ''}
${fateLine(fate)}`
}

function proofBadge({ purpose, verdict, proof }: DetailsOf<'tests'>): Html | '' {
  if (proof?.confirmed) return badge('proved', 'good')
  if (proof) return badge(`not proved: ${named(proof.reason ?? '')}`, 'warn')
  return verdict === null ? badge(`${purpose} failed`, 'bad') : ''
}

const ANSWERS: Record<DetailsOf<'search'>['answer'], [string, Tone]> = {
  same: ['same failure', 'good'],
  similar: ['similar failure', 'info'],
  none: ['none', 'quiet'],
  unavailable: ['unavailable', 'bad'],
}

export function searchRow(details: DetailsOf<'search'>, fate: CallFate | null): Html {
  const { answer, message, searched, matches, call_id } = details
  const [text, tone] = ANSWERS[answer]
  const who = call_id === null ? 'memory search of the runner:' : 'memory answers:'
  return html`<p>${who} ${badge(text, tone)} ${answer === 'unavailable' ? '' : html`<span class="muted">of ${searched === 1 ? 'one record' : `${count(searched)} records`}</span>`}</p>
${message === '' ? '' : html`<p class="said">${printedLine(message, MAX_LINE)}</p>`}
${matches.length === 0 ? '' : html`<ul class="calls">${matches.map(matchItem)}</ul>`}
${fateLine(fate)}`
}

function matchItem(match: DetailsOf<'search'>['matches'][number]): Html {
  const { memory_id, score, relevance, probability, proved, stale, fix } = match
  return html`<li><a href="/memories/${encodeURIComponent(memory_id)}"><code>${memory_id.slice(0, 8)}</code></a> ${relevance}, score ${score.toFixed(4)}, probability ${probability.toFixed(2)}
${proved ? badge('proved', 'good') : badge('unproved', 'warn')} ${stale ? badge('stale', 'warn') : ''}
<span class="said">${printedLine(fix, 200)}</span></li>`
}

export function storeRow(details: DetailsOf<'store'>, fate: CallFate | null): Html {
  const { memory_id, waiting, refusal } = details
  if (memory_id === null) {
    return html`<p>store ${badge('refused', 'bad')} ${printedLine(refusal ?? '', MAX_LINE)}</p>${fateLine(fate)}`
  }
  return html`<p>${waiting ? badge('accepted, waits for the memory', 'warn') : badge('stored', 'good')} <a href="/memories/${encodeURIComponent(memory_id)}"><code>${memory_id}</code></a></p>${fateLine(fate)}`
}

/** What the run is told where a job has gone, as after a Redis that lost its data. */
export function lostRow({ message }: DetailsOf<'lost'>, fate: CallFate | null): Html {
  return html`<p>result ${badge('lost', 'bad')} ${printedLine(message, MAX_LINE)}: the run is told so in its place</p>${fateLine(fate)}`
}

function fateLine(fate: CallFate | null): Html | '' {
  return fate === null
    ? ''
    : html`<p class="muted">for <code>${printedLine(fate.tool, 60)}</code>: ${fate.fate}</p>`
}
