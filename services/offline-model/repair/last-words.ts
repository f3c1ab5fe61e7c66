import { type Candidate, candidatesFor, projectOf } from './candidates.ts'
import { errorTypeOf, failureLines, ownTestName } from './failure.ts'
import { type Edit, editKey, type History } from './history.ts'
import type { Output } from './items.ts'
import { observationsIn } from './observed-values.ts'
import { languageOf, type Source, sourceOf } from './source.ts'

const WHO = '[local stand-in, not Astra]'

const message = (text: string): Output => ({ type: 'message', text: `${WHO} ${text}` })

/** Without tools to edit and test, the program can do nothing at all. */
export function refuse(): Output {
  return message(
    'I am a small search-based repair program without a language model. I can only mend failing tests with the tools apply_edit and run_tests, and they were not offered.',
  )
}

/** After a green run: store a confirmed fix, then say what was done. */
export function conclude(history: History, offered: ReadonlySet<string>): Output[] {
  const outcome = history.green?.confirmedOutcome ?? null
  const edits = history.kept.map(({ edit }) => edit)
  if (edits.length === 0) return [message('The tests pass already; nothing was changed.')]
  if (outcome !== null && history.store === null && offered.has('store_fix_memory')) {
    return [
      {
        type: 'call',
        name: 'store_fix_memory',
        args: {
          fix_description: describeFix(history, edits),
          error_type: errorTypeOf(history.request.failure.output),
          file_paths: [...new Set(edits.map((edit) => edit.path))],
          outcome,
        },
      },
    ]
  }
  return [message(`${whatWasDone(history, edits)} ${verdict(history)}`)]
}

function verdict(history: History): string {
  const { green, store } = history
  if (!green?.confirmedOutcome) {
    const why = green?.note ? ` (${green.note})` : ''
    return `The tests pass here, but that was not verified${why}, so nothing was stored.`
  }
  if (store?.stored) return `Verified: ${green.confirmedOutcome}. The fix was stored.`
  const why = store ? `: ${store.message}` : ': no store tool was offered'
  return `Verified: ${green.confirmedOutcome}. The fix could not be stored${why}.`
}

/** Nothing helped, and the tree is as it was. */
export function giveUp(history: History): Output {
  const tries = history.tried.length
  const why = history.limitReached
    ? 'I stopped because a limit of the run is near'
    : history.gateRefusals > 0
      ? 'my edits were refused before a memory search was answered'
      : 'none of my repair templates makes the failing tests pass'
  return message(
    `No repair was found: ${why}. I tried ${tries} ${tries === 1 ? 'edit' : 'edits'} and took every one back; the files are as they were.`,
  )
}

function whatWasDone(history: History, edits: readonly Edit[]): string {
  return edits.map((edit) => `${describeEdit(history, edit)}.`).join(' ')
}

/** What was changed, where, and which symptom went away: what a later search should meet. */
function describeFix(history: History, edits: readonly Edit[]): string {
  const { failure } = history.request
  const tests = (failure.failing ?? []).map(ownTestName)
  const named = tests.slice(0, 3).map((name) => `"${name}"`)
  const more = tests.length > 3 ? ` and ${tests.length - 3} more` : ''
  const pair = observationsIn(failure.output)[0]
  const seen = pair
    ? `got ${pair.actual.slice(0, 100)} instead of ${pair.expected.slice(0, 100)}`
    : failureLines(failure)[0]
  const symptom = [
    named.length > 0 ? `failing tests ${named.join(', ')}${more}` : '',
    seen === undefined ? '' : seen.slice(0, 200),
  ].filter((part) => part !== '')
  return `${whatWasDone(history, edits)} Symptom: ${symptom.join('; ') || 'failing tests'}.`.slice(
    0,
    2000,
  )
}

function describeEdit(history: History, edit: Edit): string {
  const candidate = candidateOf(history, edit)
  if (!candidate)
    return `Changed ${edit.path}: ${edit.old_text.trim()} became ${edit.new_text.trim()}`
  const place =
    candidate.functionName === null ? edit.path : `${candidate.functionName} (${edit.path})`
  const short = (text: string) => text.trim().slice(0, 200)
  return `In ${place}: ${candidate.rationale} ('${short(candidate.before)}' became '${short(candidate.after)}')`
}

/** The template's own account of an edit that is in force, found again from the text before it. */
function candidateOf(history: History, edit: Edit): Candidate | null {
  const language = languageOf(edit.path)
  let text = history.contents.get(edit.path)
  if (!language || typeof text !== 'string') return null
  for (const { edit: each } of [...history.kept].reverse()) {
    if (each.path !== edit.path) continue
    text = text.replace(each.new_text, () => each.old_text)
    if (each === edit) break
  }
  const source = sourceOf(edit.path, text, language)
  const candidates = candidatesFor(source, projectOf(sourcesOf(history)))
  return candidates.find((candidate) => editKey(candidate) === editKey(edit)) ?? null
}

function sourcesOf(history: History): Source[] {
  return [...history.contents].flatMap(([path, text]) => {
    const language = languageOf(path)
    return language && text !== null ? [sourceOf(path, text, language)] : []
  })
}
