import type { FlowJob } from 'bullmq'
import { crashPoint } from '../../../shared/crash-point.ts'
import { savePatch } from '../../../shared/run-files.ts'
import type { Deps } from '../deps.ts'
import { PathRefused } from '../files/confined.ts'
import { listTree, searchTree } from '../files/search-tree.ts'
import { openTree } from '../files/tree.ts'
import { type PlacedCall, treeVersion } from '../journal/conversation.ts'
import { callDetails } from '../journal/event-details.ts'
import { gateProblem } from '../journal/gates.ts'
import { callKey } from '../journal/journal.ts'
import { observedSymptom } from '../journal/run-view.ts'
import { redBaseline } from '../model/request.ts'
import type { Run } from '../run/run.ts'
import { applyEdit } from './apply-edit.ts'
import { type ParsedCall, parseCall } from './arguments.ts'
import { dispatch, searchWork, storeWork, testsWork } from './jobs.ts'
import { errorOutput, refusalIn } from './outputs.ts'
import { scrubbedSymptom } from './scrubbed-symptom.ts'
import { prepareStore } from './store-payload.ts'

type ValidCall = Extract<ParsedCall, { ok: true }>

/**
 * Does what one call asks for, or answers it with why not. File tools answer at once; searches,
 * test runs and stores become jobs whose result arrives in the run's inbox.
 */
export async function performCall(deps: Deps, run: Run, call: PlacedCall): Promise<void> {
  const parsed = parseCall(call)
  if (!parsed.ok) return answer(deps, run, call, errorOutput(parsed.code, parsed.message))
  const outcome = parsed.name === 'store_fix_memory' ? parsed.args.outcome : null
  const problem = gateProblem(run.journal, call, outcome)
  if (problem) return answer(deps, run, call, errorOutput(problem.code, problem.message))
  const command = parsed.name === 'run_tests' ? parsed.args.command : null
  const { commands } = redBaseline(run.journal)
  if (command !== null && !commands.includes(command)) {
    const known = `Commands of this project: ${commands.join(', ')}.`
    return answer(deps, run, call, errorOutput('unknown_command', known))
  }
  const output = await answerAtOnce(deps, run, call, parsed)
  if (output !== null) return answer(deps, run, call, output)
  return begin(deps, run, call, parsed)
}

/** Every ordinary call needs an output; this one gets the explicit one that it was not carried out. */
export async function abortCall(deps: Deps, run: Run, call: PlacedCall): Promise<void> {
  const output = errorOutput('aborted', 'The call was cut off and was not carried out.')
  return answer(deps, run, call, output)
}

/** The output of a file tool, or null for a call that becomes a job. */
async function answerAtOnce(
  deps: Deps,
  run: Run,
  call: PlacedCall,
  parsed: ValidCall,
): Promise<string | null> {
  const tree = () => openTree(run.files, run.journal)
  try {
    switch (parsed.name) {
      case 'list_project_files':
        return JSON.stringify(listTree(await tree()))
      case 'read_file': {
        const { path } = parsed.args
        return JSON.stringify({ path, content: await (await tree()).read(path) })
      }
      case 'search_project_files':
        return JSON.stringify(
          await searchTree(await tree(), parsed.args.query, parsed.args.max_results),
        )
      case 'apply_edit':
        return await applyEdit(deps, run, call.call_id, parsed.args)
      default:
        return null
    }
  } catch (error) {
    if (error instanceof PathRefused) return errorOutput('path_refused', error.message)
    throw error
  }
}

async function answer(deps: Deps, run: Run, call: PlacedCall, output: string): Promise<void> {
  const entry = { at: new Date().toISOString(), output }
  const refusal = refusalIn(output)
  const about = describeArguments(call)
  await deps.journal.appendKeyed(run.runId, 'output', callKey(call.call_id), entry, {
    type: 'call',
    text: `${call.name} ${about}${refusal ? ' (refused)' : ''}`,
    details: callDetails(call, about, { waits: false, refusal }),
  })
  crashPoint('agent.output-journalled')
}

/** Adds the jobs first and journals them second: a replay in between finds them and adds nothing. */
async function begin(deps: Deps, run: Run, call: PlacedCall, parsed: ValidCall): Promise<void> {
  const key = callKey(call.call_id)
  const patch = parsed.name === 'run_tests' ? await savedPatch(run) : null
  const work = await workOf(deps, run, key, parsed, patch)
  if ('refused' in work) return answer(deps, run, call, work.refused)
  await dispatch(deps.producer, { run, key, work })
  crashPoint('agent.flow-added')
  const entry = { at: new Date().toISOString(), tree: treeVersion(run.journal), patch }
  const about = describeArguments(call)
  await deps.journal.appendKeyed(run.runId, 'job', key, entry, {
    type: 'call',
    text: `${call.name} ${about}`,
    details: callDetails(call, about, { waits: true, refusal: null }),
  })
  crashPoint('agent.job-journalled')
}

/** The job that a call asks for, or the output that says why there is none. */
async function workOf(
  { scrub }: Deps,
  run: Run,
  key: string,
  parsed: ValidCall,
  patch: string | null,
): Promise<FlowJob | { refused: string }> {
  switch (parsed.name) {
    case 'search_codebase_memory': {
      const { query, error_type, top_k } = parsed.args
      const { normalised } = await scrubbedSymptom(observedSymptom(run.journal), scrub)
      const place = { runId: run.runId, key, symptom: normalised }
      const repository_id = run.journal.start?.request.repository_id
      return searchWork(scrub, place, { query, error_type, top_k, repository_id })
    }
    case 'run_tests':
      return testsWork(testEnvironment(run), key, 'run', { command: parsed.args.command, patch })
    case 'store_fix_memory': {
      const prepared = await prepareStore(scrub, run, parsed.args)
      if (!prepared.ok) return { refused: errorOutput(prepared.code, prepared.message) }
      return storeWork(run.runId, key, prepared.payload)
    }
    default:
      throw new Error(`${parsed.name} is no job`)
  }
}

export function testEnvironment(run: Run) {
  return { run_id: run.runId, path_env: run.journal.start?.request.path_env ?? '' }
}

/** The hash under which the tree as it is now is kept, or null when nothing differs from the base. */
export async function savedPatch(run: Run): Promise<string | null> {
  const patch = await (await openTree(run.files, run.journal)).patch()
  return patch.files.length === 0 ? null : savePatch(run.files, patch)
}

/** The one argument that says most, for people who follow the run. */
function describeArguments(call: PlacedCall): string {
  try {
    const args: Record<string, unknown> = JSON.parse(call.arguments)
    const telling = args.path ?? args.command ?? args.query ?? args.fix_description ?? ''
    const line =
      String(telling)
        .split('\n')
        .find((text) => text.trim()) ?? ''
    return line.slice(0, 120)
  } catch {
    return ''
  }
}
