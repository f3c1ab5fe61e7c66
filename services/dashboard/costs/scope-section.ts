import { html } from 'hono/html'
import type { LedgerScope } from '../../../shared/contracts/ledger.ts'
import type { ScopeCosts } from '../../../shared/read-costs.ts'
import type { Html } from '../layout.ts'
import { type Bar, barChart } from '../parts/bar-chart.ts'
import { count, usd } from '../parts/money.ts'
import { printedLine } from '../parts/printed-text.ts'
import { scrollBox } from '../parts/scroll-box.ts'
import {
  BOOKED_HEADS,
  bookedCells,
  bookedParts,
  budgetTable,
  limitCells,
  sumOf,
} from './budget-table.ts'

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

/** All of one scope: its budgets, then what was spent by day, model and run. */
export function scopeSection(
  scope: LedgerScope,
  costs: ScopeCosts,
  days: string[],
  runBudget: number | null,
): Html {
  const [title, meaning] = NAMES[scope]
  return html`<section id="${scope}"><h2>${title}</h2><p class="muted">${meaning}</p>
${budgetTable(scope, costs, runBudget)}
${costs.days.length === 0 ? html`<p class="empty">Nothing in the last ${days.length} days.</p>` : html`${byDay(scope, costs, days)}${byModel(scope, costs)}${byRun(scope, costs)}`}
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
${barChart({ title: `Dollars by UTC day, ${days.length} days`, bars, legend: LEGEND, format: usd })}
${scrollBox(
  `Dollars by day, ${scope}`,
  html`<table><caption>Days with a request</caption>
<thead><tr><th scope="col">Day</th>${BOOKED_HEADS}</tr></thead>
<tbody>${known.map((each) => html`<tr><th scope="row" class="nowrap">${each.day}</th>${bookedCells(each)}</tr>`)}</tbody></table>`,
)}</div>`
}

function byModel(scope: LedgerScope, { models }: ScopeCosts): Html {
  const bars = models.slice(0, MAX_BARS).map(
    (each): Bar => ({
      label: printedLine(each.model, 18),
      parts: bookedParts(each),
      text: usd(sumOf(each)),
    }),
  )
  return html`<h3>By model</h3><div class="beside">
${barChart({ title: 'Dollars by model', bars, legend: LEGEND, format: usd })}
${scrollBox(
  `Dollars by model, ${scope}`,
  html`<table><caption>Models, dearest first</caption>
<thead><tr><th scope="col">Model</th><th scope="col" class="num">Attempts</th>${BOOKED_HEADS}</tr></thead>
<tbody>${models.map((each) => html`<tr><th scope="row">${printedLine(each.model, 60)}</th><td class="num">${count(each.attempts)}</td>${bookedCells(each)}</tr>`)}</tbody></table>`,
)}</div>`
}

function byRun(scope: LedgerScope, { runs, project }: ScopeCosts): Html {
  const dearest = runs.toSorted((a, b) => sumOf(b) - sumOf(a)).slice(0, MAX_BARS)
  const bars = dearest.map(
    (each): Bar => ({
      label: each.run_id.slice(-6),
      parts: bookedParts(each),
      text: `${each.run_id}, ${usd(sumOf(each))}`,
    }),
  )
  const limited = project.limit_microusd !== null
  const more = runs.length - MAX_RUNS
  return html`<h3>By run</h3><div class="beside">
${barChart({ title: `Dollars by run, the ${bars.length} dearest`, bars, legend: LEGEND, format: usd })}
${scrollBox(
  `Dollars by run, ${scope}`,
  html`<table><caption>Runs, newest first</caption>
<thead><tr><th scope="col">Run</th><th scope="col" class="num">Attempts</th>${BOOKED_HEADS}${
    limited
      ? html`<th scope="col" class="num">Budget</th><th scope="col" class="num">Left</th><th scope="col">Used</th>`
      : ''
  }</tr></thead>
<tbody>${runs
    .slice(0, MAX_RUNS)
    .map(
      (each) =>
        html`<tr><th scope="row" class="nowrap"><a href="/runs/${encodeURIComponent(each.run_id)}">${each.run_id}</a></th><td class="num">${count(each.attempts.length)}</td>${bookedCells(each)}${limited ? limitCells(each) || html`<td></td><td></td><td></td>` : ''}</tr>`,
    )}</tbody></table>`,
)}</div>
${more > 0 ? html`<p class="note">And ${count(more)} older ones; <code>astra cost --days 30 --json</code> has them all.</p>` : ''}`
}
