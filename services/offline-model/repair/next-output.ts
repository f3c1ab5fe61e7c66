import { searchQuery } from './failure.ts'
import { type History, readHistory } from './history.ts'
import type { Item, Output, Tool } from './items.ts'
import { conclude, giveUp, refuse } from './last-words.ts'
import { nextTry, undoAll } from './next-try.ts'
import { filesToRead } from './project-files.ts'

/** Tries in all: each costs a request and a test run. */
const MAX_TRIES = 30
/** Below the calls that a run is commonly allowed, so that the end is honest instead of cut off. */
const MAX_CALLS = 108
/** About 700,000 tokens, for the same reason. */
const MAX_SENT_CHARACTERS = 1_700_000
const MAX_WAITS = 3
const MAX_GATE_REFUSALS = 3

/**
 * The next step of a repair: calls to make, or the final message. A pure function of what was said
 * so far, so that a restart or a resent request changes nothing.
 */
export function nextOutput(items: readonly Item[], tools: readonly Tool[]): Output[] {
  const offered = new Set(tools.map((tool) => tool.name))
  if (!offered.has('apply_edit') || !offered.has('run_tests')) return [refuse()]
  const history = readHistory(items)
  if (history.green) return conclude(history, offered)
  const steps = [prepare, awaitVerdict, awaitSearch, tryEdit]
  for (const step of steps) {
    const outputs = step(history, tools, offered)
    if (outputs.length > 0) return outputs
  }
  const undo = undoAll(history)
  return undo.length > 0 ? undo : [giveUp(history)]
}

type Step = (history: History, tools: readonly Tool[], offered: ReadonlySet<string>) => Output[]

/**
 * Search and list first, then read; nothing is edited before. The answer of the search is waited
 * for before the first read, because a retrieved fix says what to read.
 */
const prepare: Step = (history, tools, offered) => {
  const outputs: Output[] = []
  if (history.search === 'none' && offered.has('search_codebase_memory')) {
    outputs.push(searchCall(history))
  }
  if (history.files === null && offered.has('list_project_files')) {
    outputs.push({ type: 'call', name: 'list_project_files', args: {} })
  }
  if (outputs.length > 0) return outputs
  const waiting = awaitSearch(history, tools, offered)
  if (waiting.length > 0) return waiting
  if (history.trial !== null || stopped(history)) return []
  outputs.push(...reads(history, false))
  if (history.failing === null) outputs.push(testCall(history, tools))
  return outputs
}

function searchCall(history: History): Output {
  return {
    type: 'call',
    name: 'search_codebase_memory',
    args: {
      query: searchQuery(history.request.failure),
      error_type: null,
      top_k: 3,
      task_handle: `memory-search-${history.calls + 1}`,
    },
  }
}

const reads = (history: History, wantMore: boolean): Output[] =>
  filesToRead(history, wantMore).map((path) => ({
    type: 'call',
    name: 'read_file',
    args: { path },
  }))

/** An edit that was applied without a test run after it: the run was lost or could not be asked for. */
const awaitVerdict: Step = (history, tools) =>
  history.trial !== null && !history.trialTested ? [testCall(history, tools)] : []

/** An edit needs the answer of the memory search; a refused edit says that it is still missing. */
const awaitSearch: Step = (history, _tools, offered) => {
  const open = history.search === 'open' && history.openTasks.length > 0
  if (!open || !offered.has('wait_for_tasks') || history.waits >= MAX_WAITS) return []
  const args = { task_handles: history.openTasks }
  return [{ type: 'call', name: 'wait_for_tasks', args }]
}

const tryEdit: Step = (history, tools) => {
  if (stopped(history)) return []
  const edits = nextTry(history)
  if (edits.length > 0) return [...edits, testCall(history, tools)]
  return reads(history, true)
}

function stopped(history: History): boolean {
  return (
    history.limitReached ||
    history.tried.length + (history.trial ? 1 : 0) >= MAX_TRIES ||
    history.calls >= MAX_CALLS ||
    history.sentCharacters >= MAX_SENT_CHARACTERS ||
    history.gateRefusals >= MAX_GATE_REFUSALS
  )
}

function testCall(history: History, tools: readonly Tool[]): Output {
  const command = history.request.failure.command
  const offered = commandsOf(tools)
  const usable = command !== null && (offered.length === 0 || offered.includes(command))
  return {
    type: 'call',
    name: 'run_tests',
    args: { command: usable ? command : (offered[0] ?? command ?? '') },
  }
}

/** The commands that the definition of `run_tests` allows. */
function commandsOf(tools: readonly Tool[]): string[] {
  const schema = tools.find((tool) => tool.name === 'run_tests')?.parameters as
    | { properties?: { command?: { enum?: unknown } } }
    | null
    | undefined
  const allowed = schema?.properties?.command?.enum
  return Array.isArray(allowed) ? allowed.filter((each) => typeof each === 'string') : []
}
