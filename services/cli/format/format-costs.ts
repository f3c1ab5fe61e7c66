import type { Budget, Costs, ScopeCosts } from '../../../shared/read-costs.ts'
import { oneLine, type Terminal, table } from './terminal.ts'

/** More runs than this are left to `--json`. */
const MAX_RUNS = 30

/** The tables of both scopes: money first, and apart from it what nobody pays. */
export function printCosts(terminal: Terminal, costs: Costs, run: string | null): void {
  const { style, print } = terminal
  print(style.bold('live: money'))
  printScope(terminal, costs.live, run, true)
  print('')
  print(style.bold("notional: what the stand-in's tokens would cost with Astra; nobody pays it"))
  printScope(terminal, costs.notional, run, false)
}

function printScope(
  { print }: Terminal,
  scope: ScopeCosts,
  run: string | null,
  limited: boolean,
): void {
  const header = limited
    ? ['Settled', 'Sent', 'Held', 'Budget', 'Left']
    : ['Settled', 'Sent', 'Held']
  const cells = (budget: Budget) => [
    ...bookedCells(budget),
    ...(limited ? [usd(budget.limit_microusd), usd(budget.left_microusd)] : []),
  ]
  print(
    table(
      ['', ...header],
      [
        ['project', ...cells(scope.project)],
        [`today, ${scope.today.day} UTC`, ...cells(scope.today)],
      ],
    ),
  )
  const sections = [
    run === null && { title: 'Day', head: header.slice(0, 3), rows: dayRows(scope) },
    { title: 'Model', head: ['Attempts', ...header.slice(0, 3)], rows: modelRows(scope) },
    {
      title: 'Run',
      head: header,
      rows: scope.runs.slice(0, MAX_RUNS).map((each) => [each.run_id, ...cells(each)]),
    },
    run !== null && {
      title: 'Attempt',
      head: ['State', 'Held for it', 'Cost', 'Day', 'Model'],
      rows: attemptRows(scope),
    },
  ]
  for (const section of sections) {
    if (section && section.rows.length > 0) {
      print(`\n${table([section.title, ...section.head], section.rows)}`)
    }
  }
  if (scope.runs.length === 0) print(run === null ? '\nno runs in these days' : '\nnot this run')
  const more = scope.runs.length - MAX_RUNS
  if (more > 0) print(`and ${more} more; --json has them all`)
}

function dayRows({ days }: ScopeCosts): string[][] {
  return days.map((each) => [each.day, ...bookedCells(each)])
}

function modelRows({ models }: ScopeCosts): string[][] {
  return models.map((each) => [
    oneLine(each.model, 40),
    String(each.attempts),
    ...bookedCells(each),
  ])
}

function attemptRows({ runs }: ScopeCosts): string[][] {
  return runs.flatMap(({ attempts }) =>
    attempts.map((each) => [
      each.attempt,
      each.state,
      usd(each.hold_microusd),
      each.state === 'settled' ? usd(each.cost_microusd) : '',
      each.day,
      oneLine(each.model, 40),
    ]),
  )
}

function bookedCells(booked: Pick<Budget, 'settled_microusd' | 'sent_microusd' | 'held_microusd'>) {
  return [booked.settled_microusd, booked.sent_microusd, booked.held_microusd].map(usd)
}

function usd(microusd: number | null): string {
  return microusd === null ? 'none' : `$${(microusd / 1e6).toFixed(6)}`
}
