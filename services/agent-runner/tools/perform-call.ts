import type { FlowJob } from 'bullmq'
import type { FixClaim } from '../../../shared/contracts/record.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import { type RunFiles, savePatch } from '../../../shared/run-files.ts'
import type { Deps } from '../deps.ts'
import { PathRefused } from '../files/confined.ts'
import { describePatch } from '../files/patch-view.ts'
import { listTree, searchTree } from '../files/search-tree.ts'
import { openTree } from '../files/tree.ts'
import { currentVerification, type PlacedCall, treeVersion } from '../journal/conversation.ts'
import { gateProblem } from '../journal/gates.ts'
import { callKey, type Journal } from '../journal/journal.ts'
import { observedSymptom } from '../journal/run-view.ts'
import { redBaseline } from '../model/request.ts'
import { applyEdit } from './apply-edit.ts'
import { type ParsedCall, parseCall } from './arguments.ts'
import { dispatch, searchWork, storeWork, testsWork } from './jobs.ts'
import { errorOutput } from './outputs.ts'

export type Run = { runId: string; files: RunFiles; journal: Journal }
type ValidCall = Extract<ParsedCall, { ok: true }>

/** The longest diff that goes into a record. */
const MAX_STORED_DIFF = 60_000

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
  const failed = output.startsWith('{"error"')
  await deps.journal.appendKeyed(run.runId, 'output', callKey(call.call_id), entry, {
    type: 'call',
    text: `${call.name} ${describeArguments(call)}${failed ? ' (refused)' : ''}`,
  })
  crashPoint('agent.output-journalled')
}

/** Adds the jobs first and journals them second: a replay in between finds them and adds nothing. */
async function begin(deps: Deps, run: Run, call: PlacedCall, parsed: ValidCall): Promise<void> {
  const key = callKey(call.call_id)
  const patch = parsed.name === 'run_tests' ? await savedPatch(run) : null
  const work = await workOf(run, key, parsed, patch)
  await dispatch(deps.producer, { run, key, work })
  crashPoint('agent.flow-added')
  const entry = { at: new Date().toISOString(), tree: treeVersion(run.journal), patch }
  await deps.journal.appendKeyed(run.runId, 'job', key, entry, {
    type: 'call',
    text: `${call.name} ${describeArguments(call)}`,
  })
  crashPoint('agent.job-journalled')
}

async function workOf(
  run: Run,
  key: string,
  parsed: ValidCall,
  patch: string | null,
): Promise<FlowJob> {
  switch (parsed.name) {
    case 'search_codebase_memory': {
      const { query, error_type, top_k } = parsed.args
      const symptom = observedSymptom(run.journal)?.normalised ?? ''
      return searchWork(run.runId, key, { query, error_type, top_k }, symptom)
    }
    case 'run_tests':
      return testsWork(testEnvironment(run), key, 'run', { command: parsed.args.command, patch })
    case 'store_fix_memory':
      return storeWork(run.runId, key, await storePayload(run, parsed.args))
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

async function storePayload(run: Run, claim: FixClaim) {
  const { journal, files, runId } = run
  const symptom = observedSymptom(journal)
  const verification = currentVerification(journal)
  const receipt = verification?.confirmed ? verification.receipt : null
  const tree = await openTree(files, journal)
  const { diff } = await describePatch(files, await tree.patch())
  return {
    claim,
    evidence: {
      symptom_raw: symptom?.raw.slice(0, 16_000) ?? '',
      symptom: symptom?.normalised.slice(0, 16_000) ?? '',
      diff: diff?.slice(0, MAX_STORED_DIFF) ?? '',
      language: symptom?.language ?? null,
      framework: redBaseline(journal).runner,
      repository_id: journal.start?.request.repository_id ?? null,
      failing_tests: receipt?.body.targets ?? [],
      model: journal.start?.model ?? '',
    },
    session_id: runId,
    confirmed_at: new Date().toISOString(),
    receipt,
  }
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
