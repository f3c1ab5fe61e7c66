import { html } from 'hono/html'
import type { NoMatch, SearchResult } from '../../../shared/contracts/memory.ts'
import type { MemoryMatch } from '../../../shared/contracts/record.ts'
import type { Html } from '../layout.ts'
import { badge } from '../parts/badge.ts'
import { count } from '../parts/money.ts'
import { printedLine } from '../parts/printed-text.ts'
import { quoted } from '../parts/quoted.ts'
import { memoryPath, proofBadge } from './labels.ts'

/** What Astra would be told, and besides what was compared and held back. */
export function searchAnswers(result: SearchResult): Html {
  const { matches, searched, withheld, error_type_filter, no_matches = [] } = result
  if (withheld !== null) {
    return html`<h2>Answer: none</h2>
<p class="notice warn" role="status">Nothing is answered: ${withheld}.</p>`
  }
  const dropped =
    error_type_filter === 'dropped'
      ? html`<p class="notice info">Nothing of this error type is an answer: records of any type were looked at.</p>`
      : ''
  return html`<div role="status"><h2>Answer: ${headline(matches)}</h2></div>
<p class="muted">Chosen from ${searched === 1 ? 'one record' : `${count(searched)} records`}. Nothing was counted as shown.</p>
${dropped}
${matches.map(answerView)}
${matches.length === 0 ? whyNone(no_matches) : ''}
${no_matches.length === 0 ? '' : rejectedView(no_matches)}`
}

function headline(matches: readonly MemoryMatch[]): string {
  if (matches.length === 0) return 'none'
  const same = matches.filter(({ relevance }) => relevance === 'same').length
  const similar = matches.length - same
  const parts = [same > 0 ? `${same} same` : [], similar > 0 ? `${similar} similar` : []].flat()
  return parts.join(', ')
}

function answerView(match: MemoryMatch): Html {
  const relevance =
    match.relevance === 'same'
      ? badge('same failure', 'good')
      : badge('similar failure, check before use', 'warn')
  return html`<article class="card">
<h3><a href="${memoryPath(match.memory_id)}"><code>${match.memory_id}</code></a> ${relevance} ${proofBadge(match.proved)}</h3>
<dl class="facts">
<div><dt>Right fix, probability</dt><dd>${match.probability.toFixed(2)}</dd></div>
<div><dt>Score (cosine)</dt><dd>${match.score.toFixed(4)}</dd></div>
<div><dt>Error type</dt><dd>${printedLine(match.error_type, 100)}</dd></div>
<div><dt>Files</dt><dd><code>${printedLine(match.file_paths.join(', '), 300)}</code></dd></div>
</dl>
${quoted(match.fix_description, `The fix of memory ${match.memory_id}, in the words of the model`)}
${evidence(match)}
</article>`
}

function evidence({
  speaks_for,
  speaks_against,
}: Pick<MemoryMatch, 'speaks_for' | 'speaks_against'>): Html {
  const list = (title: string, reasons: readonly string[]) =>
    reasons.length === 0
      ? ''
      : html`<div><dt>${title}</dt>${reasons.map((each) => html`<dd>${printedLine(each, 600)}</dd>`)}</div>`
  return html`<dl class="evidence">${list('Speaks for it', speaks_for)}${list('Speaks against it', speaks_against)}</dl>`
}

function whyNone(noMatches: readonly NoMatch[]): Html {
  const [nearest] = noMatches
  if (!nearest) return html`<p class="empty">There is no record that could be compared.</p>`
  const { why, kinship } = nearest
  const limit = why.reason === 'unlikely' ? `, and an answer needs ${why.threshold.toFixed(2)}` : ''
  return html`<p class="empty">None: that the nearest has to do with this failure has a probability
of ${kinship.toFixed(2)}${limit}. An answer that does not fit costs more than none.</p>`
}

function rejectedView(noMatches: readonly NoMatch[]): Html {
  return html`<h2>Compared and not answered</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Compared and not answered"><table class="stacked four">
<thead><tr><th scope="col">Memory</th><th scope="col">Relevance</th>
<th scope="col" class="num">Related</th><th scope="col" class="num">Right fix</th>
<th scope="col" class="num">Score</th><th scope="col">Why not</th><th scope="col">For and against</th></tr></thead>
<tbody>${noMatches.map(rejectedRow)}</tbody></table></div>
<p class="muted">Related: the probability that a record has to do with the failure at all. Right fix:
that its fix is the right one.</p>`
}

function rejectedRow(each: NoMatch): Html {
  const { why } = each
  const reason =
    why.reason === 'unlikely'
      ? `related by less than ${why.threshold.toFixed(2)}, and not about as near as an answer`
      : 'an answer, and there are enough better ones'
  return html`<tr>
<th scope="row" class="wide"><a href="${memoryPath(each.memory_id)}">${printedLine(each.fix_description, 70)}</a><br>
<span class="muted">${printedLine(each.error_type, 40)}</span></th>
<td data-label="Relevance">${why.reason === 'unlikely' ? badge('none', 'quiet') : badge('not shown', 'info')}</td>
<td data-label="Related" class="num">${each.kinship.toFixed(2)}</td>
<td data-label="Right fix" class="num">${each.probability.toFixed(2)}</td>
<td data-label="Score" class="num">${each.score.toFixed(4)}</td>
<td data-label="Why not" class="whole">${reason}</td>
<td class="wide whole">${evidence(each)}</td>
</tr>`
}
