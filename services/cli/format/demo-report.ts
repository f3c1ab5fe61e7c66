import type { FinishedRun } from '../fix-workspace.ts'
import { type OriginalTests, originalTestsText } from '../original-tests.ts'
import type { RecallFacts } from '../recall-facts.ts'
import { oneLine, type Terminal, table } from './terminal.ts'

/** One session as it was recorded: its view and what its transcript says. */
export type DemoSession = {
  session: number
  scenario: string
  run: FinishedRun
  facts: RecallFacts
  tests: OriginalTests | null
}

export type Check = { claim: string; holds: boolean }

/** What the demo sets out to show; every claim is decided by records, none by the narration. */
export function checksOf(sessions: DemoSession[]): Check[] {
  const [first, second, third] = sessions
  if (!first || !second || !third) return [{ claim: 'three sessions ran', holds: false }]
  const stored = first.run.stored_memory_id
  return [
    ...sessions.map(({ session, scenario, run, tests }) => ({
      claim: `session ${session} (${scenario}) was fixed: all four untouched tests pass`,
      holds: run.status === 'fixed' && run.applied && tests?.passed_after === 4,
    })),
    {
      claim: 'session 1 began with an empty memory and stored its confirmed fix',
      holds: first.run.recall.returned.length === 0 && stored !== null,
    },
    ...[second, third].map(({ session, facts }) => ({
      claim: `session ${session} was a new chain: its first request had no previous_response_id`,
      holds: facts.new_chain,
    })),
    {
      claim: 'session 2 was given the fix of session 1',
      holds: second.run.recall.returned.some((match) => match.memory_id === stored),
    },
    {
      claim: 'session 2 had it before any read, edit or final answer',
      holds: second.facts.match !== null && second.facts.before_everything,
    },
  ]
}

export function printDemo(terminal: Terminal, sessions: DemoSession[], checks: Check[]): void {
  const { print, style } = terminal
  print(`\n${style.bold('What was recorded')}`)
  for (const session of sessions.slice(1)) {
    for (const line of recallLines(session)) print(`  ${line}`)
  }
  print(`\n${style.bold('What it took')} (stand-in, costs notional: nobody pays them)`)
  print(
    table(
      [
        'Session',
        'Scenario',
        'Status',
        'Requests',
        'Tool calls',
        'Tokens',
        'Cost',
        'Untouched tests',
      ],
      sessions.map(costRow),
    ),
  )
  print(`\n${style.bold('Checked')}`)
  for (const { claim, holds } of checks) {
    print(`  ${holds ? style.green('yes') : style.red('NO ')}  ${claim}`)
  }
}

function recallLines({ session, run, facts }: DemoSession): string[] {
  const chain = facts.new_chain ? 'no previous_response_id' : 'a previous_response_id'
  const lines = [`session ${session}: its first request had ${chain}`]
  if (facts.match) {
    const { score, fix, session: from } = facts.match
    lines.push(`  memory gave, with score ${score.toFixed(4)}, from session ${from}:`)
    lines.push(`    "${oneLine(fix, 200)}"`)
  } else lines.push('  memory gave no match')
  lines.push(
    `  it reached the model with request ${facts.delivered_in ?? 'none'}; ${whenText(facts)}`,
  )
  if (session === 3) lines.push(`  ${harmText(run, facts)}`)
  return lines
}

function whenText({ first_read, first_edit, first_final }: RecallFacts): string {
  const at = (what: string, n: number | null) =>
    `${what} ${n === null ? 'never' : `in answer ${n}`}`
  return `${at('first read', first_read)}, ${at('first edit', first_edit)}, ${at('final answer', first_final)}`
}

function harmText(run: FinishedRun, { match }: RecallFacts): string {
  const what = match ? 'a match for another cause' : 'nothing, as no fix is like it'
  const end =
    run.status === 'fixed' ? 'and it was fixed all the same' : `and it ended ${run.status}`
  return `it got ${what}, ${end}`
}

function costRow({ session, scenario, run, tests }: DemoSession): string[] {
  return [
    String(session),
    scenario,
    run.status,
    String(run.requests),
    String(run.tool_calls),
    String(run.tokens.total),
    `$${run.cost_usd.toFixed(6)}`,
    originalTestsText(tests),
  ]
}
