import * as conversation from '../../services/agent-runner/journal/conversation.ts'
import { attemptKey, callKey, type Journal } from '../../services/agent-runner/journal/journal.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { patchHash } from '../../shared/contracts/patch.ts'
import type { Injected } from './faults.ts'
import { costProblems, evidenceProblems, totalsProblems } from './money.ts'
import type { Observed, ObservedRun, Reference } from './observed.ts'
import { requestProblems, surplusRequests } from './requests.ts'

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
      surplusRequests(run.journal, references.get(run.project)).map((message) => ({
        kind: 'request beyond the needed' as const,
        where: run.run_id,
        message,
      })),
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
