import { html } from 'hono/html'
import type { LedgerScope } from '../../../shared/contracts/ledger.ts'
import type { Budget, ScopeCosts } from '../../../shared/read-costs.ts'
import type { Html } from '../layout.ts'
import { usd } from '../parts/money.ts'
import { scrollBox } from '../parts/scroll-box.ts'

type Booked = Pick<Budget, 'settled_microusd' | 'sent_microusd' | 'held_microusd'>

export const BOOKED_HEADS = html`<th scope="col" class="num">Settled</th><th scope="col" class="num">Sent</th><th scope="col" class="num">Held</th>`

export function bookedCells({ settled_microusd, sent_microusd, held_microusd }: Booked): Html {
  return html`<td data-label="Settled" class="num">${usd(settled_microusd)}</td><td data-label="Sent" class="num">${usd(sent_microusd)}</td><td data-label="Held" class="num">${usd(held_microusd)}</td>`
}

/** What counts against a budget is all three. */
export const bookedParts = (booked: Booked) => [
  booked.settled_microusd,
  booked.sent_microusd + booked.held_microusd,
]

export const sumOf = (booked: Booked) => bookedParts(booked).reduce((sum, part) => sum + part, 0)

/** The project's and the day's money against what they may reach; a run's own is in the run's row. */
export function budgetTable(
  scope: LedgerScope,
  { project, today }: ScopeCosts,
  runBudget: number | null,
): Html {
  const limited = project.limit_microusd !== null
  return html`${scrollBox(
    `Budgets, ${scope}`,
    html`<table class="stacked">
<caption>${limited ? 'Against the budgets' : 'In all'}</caption>
<thead><tr><th scope="col">Of</th>${BOOKED_HEADS}${
      limited
        ? html`<th scope="col" class="num">Budget</th><th scope="col" class="num">Left</th><th scope="col">Used</th>`
        : ''
    }</tr></thead>
<tbody>
${budgetRow('the project', project)}
${budgetRow(`today, ${today.day} (UTC)`, today)}
</tbody></table>`,
  )}
${runBudget === null ? '' : html`<p class="note">A run may cost ${usd(runBudget)} unless it is given another budget.</p>`}`
}

function budgetRow(name: string, budget: Budget): Html {
  return html`<tr><th scope="row">${name}</th>${bookedCells(budget)}${limitCells(budget)}</tr>`
}

/** Nothing where nothing limits. */
export function limitCells(budget: Budget): Html | '' {
  const { limit_microusd: limit, left_microusd: left } = budget
  if (limit === null || left === null) return ''
  const used = sumOf(budget)
  const percent = limit === 0 ? 100 : Math.round((used / limit) * 100)
  return html`<td data-label="Budget" class="num">${usd(limit)}</td><td data-label="Left" class="num">${usd(left)}</td><td data-label="Used" class="nowrap"><meter min="0" max="${Math.max(limit, 1)}" low="${limit * 0.75}" high="${limit * 0.9}" optimum="0" value="${Math.min(used, limit)}" aria-label="${percent} percent used"></meter> ${percent} %</td>`
}
