import { type Request, readRequest } from './failure.ts'
import { type Item, parseObject } from './items.ts'
import { type RetrievedFix, readMatches } from './retrieved-fix.ts'

export type Edit = { path: string; old_text: string; new_text: string }

export type TestRun = {
  passed: number
  failed: number
  failing: string[]
  output: string
  confirmedOutcome: string | null
  note: string | null
}

/** What became of a request to store the fix. */
export type StoreAnswer = { stored: true } | { stored: false; message: string }

/** All that the program knows, read from the conversation alone: it keeps nothing between requests. */
export type History = {
  request: Request
  search: 'none' | 'open' | 'answered'
  retrieved: RetrievedFix[]
  /** Handles of searches that have no output yet. */
  openTasks: string[]
  waits: number
  calls: number
  /** null: not listed yet. */
  files: string[] | null
  /** Every file that was asked for, with its present text, or null when it could not be read. */
  contents: Map<string, string | null>
  /** Edits in force that made fewer tests fail, each with what failed before it. */
  kept: { edit: Edit; failingBefore: string[] | null }[]
  /** The edit in force that is not judged yet, or did not help. */
  trial: Edit | null
  trialTested: boolean
  /** Edits that were tried and did not help, in order. */
  tried: Edit[]
  triesSinceKept: number
  /** What fails without the trial; null: not known yet. */
  failing: string[] | null
  lastOutput: string
  /** The latest run, when it was green and nothing was edited since. */
  green: TestRun | null
  gateRefusals: number
  /** Test runs that were asked for and not carried out. */
  lostRuns: number
  /** Characters that all requests sent together, about: each try resends the whole conversation. */
  sentCharacters: number
  limitReached: boolean
  store: StoreAnswer | null
}

export const editKey = (edit: Edit) => JSON.stringify([edit.path, edit.old_text, edit.new_text])

export const reversed = (edit: Edit): Edit => ({
  path: edit.path,
  old_text: edit.new_text,
  new_text: edit.old_text,
})

export function readHistory(items: readonly Item[]): History {
  const messages = items.filter((item) => item.type === 'message' && item.role === 'user')
  const first = messages[0]
  const request = readRequest(first?.type === 'message' ? first.text : '')
  const outputs = new Map(
    items.flatMap((item) => (item.type === 'output' ? [[item.callId, item.text] as const] : [])),
  )
  const history: History = {
    request,
    search: request.retrieved === null ? 'none' : 'answered',
    retrieved: request.retrieved ?? [],
    openTasks: [],
    waits: 0,
    calls: 0,
    files: null,
    contents: new Map(),
    kept: [],
    trial: null,
    trialTested: false,
    tried: [],
    triesSinceKept: 0,
    failing: request.failure.failing,
    lastOutput: request.failure.output,
    green: null,
    gateRefusals: 0,
    lostRuns: 0,
    sentCharacters: 0,
    limitReached: false,
    store: null,
  }
  // In the order of the calls, because a late answer does not make a call later.
  let size = 0
  for (const item of items) {
    size += item.type === 'call' ? JSON.stringify(item.args).length : item.text.length
    if (item.type === 'call' && item.name === 'run_tests') history.sentCharacters += size
    if (item.type === 'call') addCall(history, item, outputs.get(item.callId) ?? null)
  }
  return history
}

/** Codes that say that the run is near its end; a test run has limits of its own (`tests_...`). */
const endOfRun = /^(?:max_|limit|budget|time$)/
/** Codes of a call that was not carried out, so that its answer says nothing about the edit. */
const notCarriedOut = /^(?:aborted|tests_unavailable)$/
const MAX_REPEATED_RUNS = 2

type Call = Extract<Item, { type: 'call' }>
type Answer = Record<string, unknown>

function addCall(history: History, call: Call, output: string | null): void {
  history.calls += 1
  if (call.name === 'search_codebase_memory') {
    addSearch(history, call, output)
    return
  }
  if (output === null) return
  const answer = parseObject(output) ?? {}
  const error = errorOf(answer)
  if (error && endOfRun.test(error.code)) history.limitReached = true
  const add = handlers[call.name]
  add?.(history, call, answer)
}

function addSearch(history: History, call: Call, output: string | null): void {
  if (output === null) {
    history.openTasks.push(text(call.args.task_handle))
    if (history.search !== 'answered') history.search = 'open'
    return
  }
  history.search = 'answered'
  history.retrieved.push(...readMatches(output))
}

const handlers: Record<string, (history: History, call: Call, answer: Answer) => void> = {
  list_project_files: (history, _call, answer) => {
    history.files = texts(answer.files)
  },
  read_file: (history, call, answer) => {
    const content = typeof answer.content === 'string' ? answer.content : null
    history.contents.set(text(call.args.path), content)
  },
  wait_for_tasks: (history) => {
    history.waits += 1
  },
  apply_edit: addEdit,
  run_tests: addTestRun,
  store_fix_memory: (history, _call, answer) => {
    const error = errorOf(answer)
    history.store = error ? { stored: false, message: error.message } : { stored: true }
  },
}

function addEdit(history: History, call: Call, answer: Answer): void {
  const edit = {
    path: text(call.args.path),
    old_text: text(call.args.old_text),
    new_text: text(call.args.new_text),
  }
  if (answer.edited !== true) {
    const code = errorOf(answer)?.code ?? ''
    if (code === 'memory_gate') history.gateRefusals += 1
    else if (!notCarriedOut.test(code)) history.tried.push(edit)
    return
  }
  history.green = null
  const content = history.contents.get(edit.path)
  if (typeof content === 'string') {
    history.contents.set(
      edit.path,
      content.replace(edit.old_text, () => edit.new_text),
    )
  }
  if (history.trial && editKey(reversed(history.trial)) === editKey(edit)) {
    history.tried.push(history.trial)
    history.triesSinceKept += 1
    history.trial = null
    return
  }
  const last = history.kept.at(-1)
  if (last && editKey(reversed(last.edit)) === editKey(edit)) {
    history.kept.pop()
    history.tried.push(last.edit)
    history.failing = last.failingBefore
    history.triesSinceKept = 0
    return
  }
  history.trial = edit
  history.trialTested = false
}

function addTestRun(history: History, _call: Call, answer: Answer): void {
  const run = testRunOf(answer)
  if (notCarriedOut.test(errorOf(answer)?.code ?? '') && history.lostRuns < MAX_REPEATED_RUNS) {
    history.lostRuns += 1
    return
  }
  history.trialTested = true
  if (!run) return
  const edit = history.trial
  const green = run.failed === 0 && run.passed > 0
  const better = green || isBetter(run, history.failing)
  if (edit && better) {
    history.kept.push({ edit, failingBefore: history.failing })
    history.trial = null
    history.triesSinceKept = 0
  }
  if (!edit || better) {
    history.failing = run.failing
    history.lastOutput = run.output
  }
  history.green = green ? run : null
}

/** Fewer tests fail, and none that passed before: a file that no longer loads is not better. */
function isBetter(run: TestRun, before: string[] | null): boolean {
  if (before === null || run.failing.length === 0) return false
  return run.failing.length < before.length && run.failing.every((name) => before.includes(name))
}

function testRunOf(answer: Answer): TestRun | null {
  const { passed, failed, output, confirmed_outcome, note } = answer
  if (typeof passed !== 'number' || typeof failed !== 'number') return null
  return {
    passed,
    failed,
    failing: texts(answer.failing),
    output: text(output),
    confirmedOutcome: typeof confirmed_outcome === 'string' ? confirmed_outcome : null,
    note: typeof note === 'string' ? note : null,
  }
}

function errorOf(answer: Answer): { code: string; message: string } | null {
  if (typeof answer.error !== 'object' || answer.error === null) return null
  const { code, message } = answer.error as Answer
  return { code: text(code), message: text(message) }
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')
const texts = (value: unknown) =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
