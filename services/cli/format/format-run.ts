import type { RunEvent, RunView } from '../../../shared/contracts/run-view.ts'
import type { FinishedRun } from '../fix-workspace.ts'
import { oneLine, plain, type Terminal } from './terminal.ts'

/** One progress line of an event. */
export function eventLine(event: RunEvent): string {
  return `${event.at.slice(11, 19)}  ${event.type.padEnd(8)}  ${oneLine(event.text, 140)}`
}

export function costText(view: Pick<RunView, 'cost_usd' | 'cost_is_notional'>): string {
  return `$${view.cost_usd.toFixed(6)}${view.cost_is_notional ? ' (notional: nobody pays it)' : ''}`
}

/** A run for people: what came out, what it took, what memory did, and the diff. */
export function printRun(terminal: Terminal, run: FinishedRun): void {
  const { style, print } = terminal
  const colour = run.status === 'fixed' ? style.green : style.yellow
  const reason = run.reason === null ? '' : ` (${run.reason})`
  print(`${style.bold(colour(run.status))}${reason}: ${plain(run.message)}`)
  const rows: [string, string | null][] = [
    ['run', run.run_id],
    ['workspace', run.workspace],
    ['model', run.mode === 'offline' ? `${run.model} (a local stand-in, not Astra)` : run.model],
    ['tests', testsText(run)],
    ['requests', `${run.requests}, tool calls ${run.tool_calls}, tokens ${run.tokens.total}`],
    ['cost', costText(run)],
    ['memory', memoryText(run)],
    ['stored', storedText(run)],
    ['left out', run.dropped_paths.length > 0 ? protectedText(run) : null],
    ['applied', appliedText(run)],
  ]
  for (const [name, value] of rows)
    if (value !== null) print(`  ${name.padEnd(10)} ${plain(value)}`)
  if (run.patch) print(`\n${plain(run.patch.trimEnd())}`)
}

function testsText({ verification }: RunView): string | null {
  if (!verification) return null
  const { command, failing_before, passing_after, outcome } = verification
  return (
    `${command}: ${failing_before.length} failing before, ${passing_after.length} passing after, ` +
    `on the original test files${outcome === null ? '' : `; ${outcome}`}`
  )
}

function memoryText({ recall }: RunView): string {
  const found = recall.returned.map((match) => `${match.memory_id} (${match.score.toFixed(4)})`)
  const searches = `${recall.searches} ${recall.searches === 1 ? 'search' : 'searches'}`
  const away = recall.unavailable > 0 ? `; unavailable for ${recall.unavailable}` : ''
  const returned = found.length > 0 ? found.join(', ') : 'nothing'
  return `${searches} (${recall.mode}), returned ${returned}${away}`
}

function storedText({ stored_memory_id, store_waits }: RunView): string | null {
  if (!store_waits) return stored_memory_id
  return `${stored_memory_id}, as soon as the memory is back: it was unavailable`
}

const protectedText = (run: RunView) =>
  `${run.dropped_paths.join(', ')} (tests and their configuration stay as they are)`

function appliedText(run: FinishedRun): string | null {
  if (run.status !== 'fixed') return null
  if (run.applied) return 'yes, the workspace has the patch'
  const because = run.not_applied_because === null ? '' : `, ${run.not_applied_because}`
  return `no${because}; \`astra apply ${run.run_id}\` applies it`
}

/** What to do about a run that was refused; null for any other. */
export function refusalHelp({ status, reason, workspace }: RunView): string | null {
  if (status !== 'refused') return null
  if (reason === 'no_api_key') return noKeyHelp(workspace)
  if (reason === 'cost_not_approved') {
    return [
      'Requests to Astra cost money. Add --approve-live-cost to allow them for this run; --budget USD',
      'limits what it may cost. Without payment:',
      ...offlineHelp(workspace),
    ].join('\n')
  }
  return null
}

function noKeyHelp(workspace: string): string {
  return [
    'There is no OPENAI_API_KEY, so Astra cannot be asked and nothing was. Set it in the environment',
    'or in the .env of this clone or of ASTRA_HOME, and add --approve-live-cost. Without a key:',
    ...offlineHelp(workspace),
  ].join('\n')
}

/** Never chosen silently: a person decides for the stand-in with open eyes. */
function offlineHelp(workspace: string): string[] {
  return [
    `  astra fix ${workspace} --offline`,
    'uses a local stand-in, which is not Astra and no language model. It can try small edits from a',
    'list of common slips (spaces and case of strings, bounds, missing guards, wrong operators or',
    'defaults, a missing await or return, sorting of numbers) in JavaScript, TypeScript and Python,',
    'and keeps one that makes the tests pass. It cannot understand a design, follow your prompt or',
    'change several places for one cause; it then ends as not_fixed. Memory, verification and limits',
    'are the real ones.',
  ]
}
