import type { z } from 'zod'
import {
  type ResponseEntry,
  type ToolCall,
  type WorkName,
  type WorkOutcome,
  workResults,
} from './entries.ts'
import { attemptKey, callKey, type Journal, systemKey } from './journal.ts'

/** A call with the number of the request that it answers. */
export type PlacedCall = ToolCall & { request: number }

export const BASELINE = systemKey('baseline')
export const PREFETCH = systemKey('prefetch')
/** Verification of the tree as it was after that many edits. */
export const verifyKey = (tree: number) => systemKey(`verify-${tree}`)

/** The number of the last request that was tried, answered or not; 0 before the first. */
export function lastRequest(journal: Journal): number {
  const numbers = [...journal.sent.keys()].map((key) => Number.parseInt(key, 10))
  return Math.max(0, ...numbers)
}

export function attemptsOf(journal: Journal, request: number): number {
  let attempt = 0
  while (journal.sent.has(attemptKey(request, attempt + 1))) attempt += 1
  return attempt
}

export function responseTo(journal: Journal, request: number): ResponseEntry | undefined {
  return journal.responses.get(String(request))
}

/** All responses in the order of the chain. */
export function responsesOf(journal: Journal): { request: number; response: ResponseEntry }[] {
  return [...journal.responses]
    .map(([request, response]) => ({ request: Number(request), response }))
    .sort((a, b) => a.request - b.request)
}

export function allCalls(journal: Journal): PlacedCall[] {
  return responsesOf(journal).flatMap(({ request, response }) =>
    response.calls.map((call) => ({ ...call, request })),
  )
}

/**
 * In which request each output reached the model. An attempt without a response delivered nothing
 * that counts: the chain goes on from before it.
 */
export function deliveries(journal: Journal): Map<string, number> {
  const delivered = new Map<string, number>()
  for (const { request, response } of responsesOf(journal)) {
    const sent = journal.sent.get(attemptKey(request, response.attempt))
    for (const key of sent?.delivers ?? []) delivered.set(key, request)
  }
  return delivered
}

/** What came of a piece of work, or null while it is under way. Throws ZodError on a foreign result. */
export function outcomeOf<W extends WorkName>(
  journal: Journal,
  key: string,
  work: W,
): WorkOutcome<W> | null {
  const entry = journal.inbox.get(key)
  if (!entry) return null
  if (!entry.ok) return entry
  const value = workResults[work].parse(entry.value) as z.infer<(typeof workResults)[W]>
  return { ok: true, value }
}

/** How many edits the tree has seen. The same number means the same tree. */
export function treeVersion(journal: Journal): number {
  return journal.edits.size
}

/** Something was done about this call: it has an output, or a job that will bring one. */
export function isBegun(journal: Journal, call: ToolCall): boolean {
  return journal.outputs.has(callKey(call.call_id)) || journal.jobs.has(callKey(call.call_id))
}

/** The output of this call is there to be delivered. `wait_for_tasks` has its own rule. */
export function hasOutput(journal: Journal, call: ToolCall): boolean {
  return journal.outputs.has(callKey(call.call_id)) || journal.inbox.has(callKey(call.call_id))
}

/**
 * The verdict on the tree as it is now, from whichever job proved it: a `run_tests` of the model or
 * a verification of the runner's own. Null when this tree was not verified.
 */
export function currentVerification(journal: Journal) {
  const tree = treeVersion(journal)
  const own = outcomeOf(journal, verifyKey(tree), 'verify')
  if (own?.ok) return own.value
  const runs = allCalls(journal).filter(
    (call) => call.name === 'run_tests' && journal.jobs.get(callKey(call.call_id))?.tree === tree,
  )
  for (const call of runs.reverse()) {
    const outcome = outcomeOf(journal, callKey(call.call_id), 'tests')
    if (outcome?.ok && outcome.value.kind === 'green') return outcome.value.verification
  }
  return null
}
