import type { Logger } from 'pino'
import { crashPoint } from '../../../shared/crash-point.ts'
import { runFiles } from '../../../shared/run-files.ts'
import type { Deps } from '../deps.ts'
import { BASELINE, PREFETCH, treeVersion, verifyKey } from '../journal/conversation.ts'
import { nextStep, type Step } from '../journal/next-step.ts'
import { observedSymptom } from '../journal/run-view.ts'
import { performRequest, performRetrieve } from '../model/perform-request.ts'
import { redBaseline } from '../model/request.ts'
import { baselineWork, dispatch, searchWork, testsWork } from '../tools/jobs.ts'
import { abortCall, performCall, savedPatch, testEnvironment } from '../tools/perform-call.ts'
import { reviveDeliveries } from '../tools/revive-deliveries.ts'
import { scrubbedSymptom } from '../tools/scrubbed-symptom.ts'
import { concludeRun, publishRun } from './conclude-run.ts'
import { journalEnd } from './journal-end.ts'
import { noteCancel } from './note-cancel.ts'
import { noteDeadline } from './note-deadline.ts'
import type { Run } from './run.ts'

type Context = { signal: AbortSignal; log: Logger }

/** How many matches the runner asks for when it searches by itself. */
const PREFETCH_TOP_K = 3

/**
 * Goes on with a run until it has to wait for a job or has ended. All that is known is read from
 * the journal anew before each step, so any process may do the next one.
 */
export async function advanceRun(deps: Deps, runId: string, context: Context): Promise<void> {
  const files = runFiles(deps.config.home, runId, deps.blobs)
  for (;;) {
    context.signal.throwIfAborted()
    const journal = await deps.journal.load(runId)
    await noteDeadline(deps, runId, journal)
    await noteCancel(deps, runId, journal)
    const step = nextStep(journal)
    const run: Run = { runId, files, journal }
    if (step.kind === 'wait') {
      if (await reviveDeliveries(deps, runId, step.for)) continue
      return publishRun(deps, run)
    }
    if (step.kind === 'ended') return concludeRun(deps, run, context.log)
    await perform(deps, run, step, context)
  }
}

async function perform(
  deps: Deps,
  run: Run,
  step: Exclude<Step, { kind: 'wait' | 'ended' }>,
  context: Context,
): Promise<void> {
  switch (step.kind) {
    case 'baseline': {
      const { command } = startOf(run).request
      return beginOwn(deps, run, BASELINE, baselineWork(testEnvironment(run), BASELINE, command))
    }
    case 'prefetch': {
      const seen = observedSymptom(run.journal)
      const { normalised: symptom } = await scrubbedSymptom(seen, deps.scrub)
      const { repository_id } = startOf(run).request
      const search = { query: symptom, error_type: null, top_k: PREFETCH_TOP_K, repository_id }
      const place = { runId: run.runId, key: PREFETCH, symptom }
      return beginOwn(deps, run, PREFETCH, await searchWork(deps.scrub, place, search))
    }
    case 'verify': {
      const key = verifyKey(step.tree)
      const tree = { command: redBaseline(run.journal).command, patch: await savedPatch(run) }
      return beginOwn(deps, run, key, testsWork(testEnvironment(run), key, 'verify', tree))
    }
    case 'call':
      return performCall(deps, run, step.call)
    case 'abort':
      return abortCall(deps, run, step.call)
    case 'request':
      await publishRun(deps, run)
      return performRequest(deps, run, step, context)
    case 'retrieve':
      return performRetrieve(deps, run, step, context)
    case 'finish': {
      const { status, reason, message, text: final_text } = step
      const text = `${status} (${reason}): ${message}`
      await journalEnd(deps, run.runId, { status, reason, message, final_text }, text)
      crashPoint('agent.end-journalled')
    }
  }
}

/** Work that the runner itself asks for; journalled after it was added, like a call's. */
async function beginOwn(
  deps: Deps,
  run: Run,
  key: string,
  work: Parameters<typeof dispatch>[1]['work'],
): Promise<void> {
  await dispatch(deps.producer, { run, key, work })
  crashPoint('agent.flow-added')
  const entry = { at: new Date().toISOString(), tree: treeVersion(run.journal), patch: null }
  await deps.journal.appendKeyed(run.runId, 'job', key, entry)
  crashPoint('agent.job-journalled')
}

function startOf(run: Run) {
  if (!run.journal.start) throw new Error(`run ${run.runId} has not started`)
  return run.journal.start
}
