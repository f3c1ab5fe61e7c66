import { html } from 'hono/html'
import type { LedgerScope } from '../../../shared/contracts/ledger.ts'
import type { ScopeCosts } from '../../../shared/read-costs.ts'
import type { Html } from '../layout.ts'
import type { Bar } from '../parts/chart.ts'
import { columnChart } from '../parts/column-chart.ts'
import { count, usd, usdTick } from '../parts/money.ts'
import { printedEnd, printedLine } from '../parts/printed-text.ts'
import { rowChart } from '../parts/row-chart.ts'
import { scrollBox } from '../parts/scroll-box.ts'
import {
  BOOKED_HEADS,
  bookedCells,
  bookedParts,
  budgetTable,
  limitCells,
  sumOf,
} from './budget-table.ts'
import type { RunTopic, RunTopics } from './run-topics.ts'

const MAX_RUNS = 50
/** Of the runs, the dearest are drawn. */
const MAX_BARS = 12
const LEGEND = ['settled', 'sent and held']

const NAMES: Record<LedgerScope, [title: string, meaning: string]> = {
  live: ['Live', 'Money that is really spent.'],
  notional: [
    'Notional',
    "What the stand-in's tokens would have cost with Astra. Nobody pays it, and no budget counts it.",
  ],
}

/** The runs of a scope that are named: the newest in the table, the dearest in the chart. */
export function namedRuns({ runs }: ScopeCosts) {
  const dearest = runs.toSorted((a, b) => sumOf(b) - sumOf(a)).slice(0, MAX_BARS)
  return { newest: runs.slice(0, MAX_RUNS), dearest }
}

/** All of one scope: its budgets, then what was spent by day, model and run. */
export function scopeSection(
  scope: LedgerScope,
  costs: ScopeCosts,
  days: string[],
  { runBudget, topics }: { runBudget: number | null; topics: RunTopics },
): Html {
  const [title, meaning] = NAMES[scope]
  return html`<section id="${scope}"><h2>${title}</h2><p class="muted">${meaning}</p>
${budgetTable(scope, costs, runBudget)}
${costs.days.length === 0 ? html`<p class="empty">Nothing in the last ${days.length} days.</p>` : html`${byDay(scope, costs, days)}${byModel(scope, costs)}${byRun(scope, costs, topics)}`}
</section>`
}

function byDay(scope: LedgerScope, { days: known }: ScopeCosts, days: string[]): Html {
  const byName = new Map(known.map((each) => [each.day, each]))
  const bars = days.toReversed().map((day): Bar => {
    const booked = byName.get(day)
    const parts = booked ? bookedParts(booked) : [0, 0]
    return { label: day.slice(5), parts, text: usd(booked ? sumOf(booked) : 0) }
  })
  return html`<h3>By day</h3><div class="beside">
${columnChart({ title: `Dollars by UTC day, ${days.length} days`, bars, legend: LEGEND, format: usd, tick: usdTick })}
${scrollBox(
  `Dollars by day, ${scope}`,
  html`<table class="stacked"><caption>Days with a request</caption>
<thead><tr><th scope="col">Day</th>${BOOKED_HEADS}</tr></thead>
<tbody>${known.map((each) => html`<tr><th scope="row" class="nowrap">${each.day}</th>${bookedCells(each)}</tr>`)}</tbody></table>`,
)}</div>`
}

function byModel(scope: LedgerScope, { models }: ScopeCosts): Html {
  const bars = models.slice(0, MAX_BARS).map(
    (each): Bar => ({
      label: printedLine(each.model, 40),
      parts: bookedParts(each),
      text: usd(sumOf(each)),
    }),
  )
  return html`<h3>By model</h3><div class="beside">
${rowChart({ title: 'Dollars by model', bars, legend: LEGEND, format: usd })}
${scrollBox(
  `Dollars by model, ${scope}`,
  html`<table class="stacked four"><caption>Models, dearest first</caption>
<thead><tr><th scope="col">Model</th><th scope="col" class="num">Attempts</th>${BOOKED_HEADS}</tr></thead>
<tbody>${models.map((each) => html`<tr><th scope="row">${printedLine(each.model, 60)}</th><td data-label="Attempts" class="num">${count(each.attempts)}</td>${bookedCells(each)}</tr>`)}</tbody></table>`,
)}</div>`
}

function byRun(scope: LedgerScope, costs: ScopeCosts, topics: RunTopics): Html {
  const { newest, dearest } = namedRuns(costs)
  const bars = dearest.map(
    (each): Bar => ({
      label: [printedEnd(each.run_id, 32), topics.get(each.run_id)?.place ?? []].flat().join(', '),
      parts: bookedParts(each),
      text: usd(sumOf(each)),
    }),
  )
  const limited = costs.project.limit_microusd !== null
  const more = costs.runs.length - newest.length
  return html`<h3>By run</h3><div class="beside">
${rowChart({ title: `Dollars by run, the ${bars.length} dearest`, bars, legend: LEGEND, format: usd })}
${scrollBox(
  `Dollars by run, ${scope}`,
  html`<table class="stacked four"><caption>Runs, newest first</caption>
<thead><tr><th scope="col">Run</th><th scope="col" class="num">Attempts</th>${BOOKED_HEADS}${
    limited
      ? html`<th scope="col" class="num">Budget</th><th scope="col" class="num">Left</th><th scope="col">Used</th>`
      : ''
  }</tr></thead>
<tbody>${newest.map(
    (each) =>
      html`<tr><th scope="row"><a class="nowrap" href="/runs/${encodeURIComponent(each.run_id)}">${each.run_id}</a>${topicView(topics.get(each.run_id))}</th><td data-label="Attempts" class="num">${count(each.attempts.length)}</td>${bookedCells(each)}${limited ? limitCells(each) || html`<td></td><td></td><td></td>` : ''}</tr>`,
  )}</tbody></table>`,
)}</div>
${more > 0 ? html`<p class="note">And ${count(more)} older ones; <code>astra cost --days 30 --json</code> has them all.</p>` : ''}`
}

function topicView(topic: RunTopic | undefined): Html | '' {
  if (!topic) return ''
  const { place, symptom } = topic
  return html`<span class="prompt">${place}${symptom === null ? '' : `: ${symptom}`}</span>`
}
