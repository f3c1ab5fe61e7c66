import * as conversation from '../../services/agent-runner/journal/conversation.ts'
import { attemptKey, callKey, type Journal } from '../../services/agent-runner/journal/journal.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { patchHash } from '../../shared/contracts/patch.ts'
import type { Injected, Victim } from './faults.ts'
import type { Observed, ObservedRun, Reference } from './observed.ts'

export const findingKinds = [
  'wrong end',
  'result lost',
  'duplicate store',
  'duplicate edit',
  'duplicate answer',
  'request beyond the needed',
  'dollars over the limit',
  'orphan process',
  'workspace changed',
  'leftover',
  'crash point not reached',
] as const
export type FindingKind = (typeof findingKinds)[number]

/** Something that must not be, and where. */
export type Finding = { kind: FindingKind; where: string; message: string }

/** Everything that is wrong with an installation after its end. `references`: by project. */
export function checkInstallation(
  observed: Observed,
  references: ReadonlyMap<string, Reference>,
): Finding[] {
  const { name, runs, injected } = observed
  const all = (kind: FindingKind, messages: readonly string[]) =>
    messages.map((message) => ({ kind, where: name, message }))
  return [
    ...runs.flatMap((run) => checkRun(run, references.get(run.project), injected)),
    // What others stored changes which edits are tried first, so only a run alone is compared.
    ...(runs.length === 1 ? runs : []).flatMap((run) =>
      comparedRequests(run, references.get(run.project)),
    ),
    ...all('result lost', observed.unfinished),
    ...all('crash point not reached', observed.notReached),
    ...all('orphan process', observed.orphans),
    ...all('leftover', observed.leftovers),
    ...all('dollars over the limit', [
      ...observed.openAttempts.map((attempt) => `${attempt} is still open`),
      ...totalsProblems(observed),
      ...evidenceProblems(observed),
    ]),
  ]
}

function totalsProblems({ totals, runs }: Observed): string[] {
  const open = totals.held + totals.sent
  const settled = runs.reduce((sum, run) => sum + (run.costs?.settled ?? 0), 0)
  return [
    ...(open === 0 ? [] : [`${open} micro-dollars are still held or sent`]),
    ...(totals.settled === settled
      ? []
      : [`the total is ${totals.settled}, the runs make ${settled} micro-dollars`]),
  ]
}

/** The evidence has no gap, and at no moment was a run beyond its budget. */
function evidenceProblems({ evidence, runs }: Observed): string[] {
  const seqs = new Set(evidence.map((line) => line.seq))
  const last = Math.max(0, ...seqs)
  const limits = new Map(runs.map((run) => [run.run_id, budgetOf(run)]))
  const over = evidence.filter(({ run, totals: { run: now } }) => {
    return now.held + now.sent + now.settled > (limits.get(run) ?? 0)
  })
  return [
    ...(seqs.size === last ? [] : [`${last - seqs.size} transitions left no evidence`]),
    ...over.map((line) => `run ${line.run} was over its budget at transition ${line.seq}`),
  ]
}

const budgetOf = ({ journal }: ObservedRun) => journal.start?.request.limits.budget_microusd ?? 0

/** Everything that is wrong with one run. */
export function checkRun(
  run: ObservedRun,
  reference: Reference | undefined,
  injected: readonly Injected[],
): Finding[] {
  const checks: [FindingKind, string[]][] = [
    ['wrong end', endProblems(run, reference)],
    ['result lost', lostResults(run.journal)],
    ['duplicate store', storeProblems(run)],
    ['duplicate edit', editProblems(run)],
    ['duplicate answer', answerProblems(run)],
    ['request beyond the needed', requestProblems(run.journal, injected)],
    ['dollars over the limit', costProblems(run)],
    ['workspace changed', run.changed],
  ]
  return checks.flatMap(([kind, messages]) =>
    messages.map((message) => ({ kind, where: run.run_id, message })),
  )
}

function endProblems({ view, patch }: ObservedRun, reference: Reference | undefined): string[] {
  if (!view) return ['it has no view']
  if (view.status !== 'fixed') return [`${view.status} (${view.reason}): ${view.message}`]
  if (view.patch_hash !== reference?.patch_hash) return [`another patch: ${view.patch_hash}`]
  return patch && patchHash(patch) === view.patch_hash ? [] : ['its patch is not on disk']
}

/** Work that left no result, or none but an error, and results that never reached the model. */
function lostResults(journal: Journal): string[] {
  const missing = [...journal.jobs.keys()].filter((key) => !journal.inbox.has(key))
  const failed = [...journal.inbox].flatMap(([key, entry]) =>
    entry.ok ? [] : [`${key} failed: ${entry.error}`],
  )
  const delivered = conversation.deliveries(journal)
  const undelivered = conversation
    .allCalls(journal)
    .filter((call) => call.async && !delivered.has(callKey(call.call_id)))
  return [
    ...missing.map((key) => `${key} has no result`),
    ...failed,
    ...undelivered.map((call) => `the output of ${call.call_id} was never delivered`),
  ]
}

function storeProblems({ records, view }: ObservedRun): string[] {
  const stored = view?.stored_memory_id ?? null
  if (records.length > 1) return [`${records.length} records`]
  if (records[0] === stored) return []
  return [`the run stored ${stored}, the memory has ${records[0]}`]
}

/** Each edit begins where the one before it ended, and the last is what the patch holds. */
function editProblems({ journal, base, patch }: ObservedRun): string[] {
  const now = new Map(base)
  const problems: string[] = []
  for (const call of conversation.allCalls(journal)) {
    const edit = journal.edits.get(callKey(call.call_id))
    const succeeded = isSuccess(journal.outputs.get(callKey(call.call_id))?.output)
    if (call.name === 'apply_edit' && succeeded !== (edit !== undefined)) {
      problems.push(`${call.call_id}: its output and its edit disagree`)
    }
    if (!edit) continue
    if (now.get(edit.path) !== edit.before) {
      problems.push(`${call.call_id} edits a ${edit.path} that is not the one before it`)
    }
    now.set(edit.path, edit.after)
  }
  for (const file of patch?.files ?? []) {
    if (file.after === null || sha256(file.after) !== now.get(file.path)) {
      problems.push(`the patch of ${file.path} is not what the edits made`)
    }
  }
  return problems
}

const isSuccess = (output: string | undefined) =>
  output !== undefined && JSON.parse(output).edited === true

/** The chain goes through each response once, and each ordinary call is answered once, at once. */
function answerProblems({ journal, chain }: ObservedRun): string[] {
  const problems: string[] = []
  const delivered = new Map<string, number[]>()
  let previous: string | null = null
  const responses = conversation.responsesOf(journal)
  for (const { request, response } of responses) {
    if (chain.get(response.id) !== previous) {
      problems.push(`request ${request} goes on from ${chain.get(response.id)}, not ${previous}`)
    }
    previous = response.id
    const sent = journal.sent.get(attemptKey(request, response.attempt))
    for (const key of sent?.delivers ?? []) {
      delivered.set(key, [...(delivered.get(key) ?? []), request])
    }
  }
  const last = responses.at(-1)?.request
  for (const call of conversation.allCalls(journal)) {
    const places = delivered.get(callKey(call.call_id)) ?? []
    const right = call.async || call.request === last || places[0] === call.request + 1
    if (places.length > 1 || !right) {
      problems.push(
        `${call.call_id} of request ${call.request} is answered in ${places.join(', ')}`,
      )
    }
  }
  return problems
}

/** Whose faults can cost an answer that was under way. */
const breakers: ReadonlySet<Victim> = new Set([
  'agent-runner',
  'offline-model',
  'redis',
  'supervisor',
])

/** Attempts that nothing explains, and answers that say something other than a healthy run says. */
function requestProblems(journal: Journal, injected: readonly Injected[]): string[] {
  const lost = lostAttempts(journal).filter(
    ({ from, to }) => !injected.some((fault) => hits(fault, from, to)),
  )
  const refused = [...journal.outputs].filter(([, { output }]) => output.startsWith('{"error"'))
  const reminders = [...journal.sent].filter(([, sent]) => sent.reminder)
  return [
    ...lost.map(({ key }) => `attempt ${key} was lost and nothing was killed`),
    ...refused.map(([key, { output }]) => `${key} was refused: ${output}`),
    ...reminders.map(([key]) => `attempt ${key} had to remind the model`),
  ]
}

function comparedRequests(run: ObservedRun, reference: Reference | undefined): Finding[] {
  const needed = neededRequests(run.journal)
  if (!reference || needed <= reference.requests) return []
  const message = `${needed} answered requests, the reference needed ${reference.requests}`
  return [{ kind: 'request beyond the needed', where: run.run_id, message }]
}

const hits = ({ victim, at, until }: Injected, from: number, to: number) =>
  breakers.has(victim) && at <= to && until >= from

/** Answered requests, without those that only wait: whether a wait is needed is a matter of time. */
export function neededRequests(journal: Journal): number {
  const onlyWaits = (calls: { name: string }[]) =>
    calls.length > 0 && calls.every((call) => call.name === 'wait_for_tasks')
  return [...journal.responses.values()].filter(({ calls }) => !onlyWaits(calls)).length
}

/** Attempts without an answer, with the time in which that must have happened. */
export function lostAttempts(journal: Journal): { key: string; from: number; to: number }[] {
  return [...journal.sent].flatMap(([key, sent]) => {
    const [request = '', attempt = ''] = key.split('.')
    if (journal.responses.get(request)?.attempt === Number(attempt)) return []
    const next = journal.sent.get(attemptKey(Number(request), Number(attempt) + 1))
    const to = next?.at ?? journal.end?.at
    return [{ key, from: Date.parse(sent.at), to: to ? Date.parse(to) : Number.POSITIVE_INFINITY }]
  })
}

/** What the ledger says was spent is what the journal says, and no more than was allowed. */
function costProblems(run: ObservedRun): string[] {
  const { journal, costs } = run
  if (!costs) return journal.sent.size === 0 ? [] : ['the ledger does not know it']
  const open = costs.held + costs.sent
  const cost = [...journal.sent].reduce(
    (sum, [key, sent]) => sum + costOf(journal, key, sent.hold_microusd),
    0,
  )
  return [
    ...(open === 0 ? [] : [`${open} micro-dollars are still held or sent`]),
    ...(costs.settled === cost ? [] : [`settled ${costs.settled}, but the journal has ${cost}`]),
    ...(costs.settled <= budgetOf(run) ? [] : [`settled ${costs.settled} of ${budgetOf(run)}`]),
  ]
}

/** An attempt whose end nobody knows costs all that was held for it. */
function costOf(journal: Journal, key: string, hold: number): number {
  const [request = '', attempt = ''] = key.split('.')
  const response = journal.responses.get(request)
  if (response?.attempt === Number(attempt)) return response.cost_microusd
  const fault = journal.faults.get(key)
  return fault && !fault.charged ? 0 : hold
}
