import type { Logger } from 'pino'
import { TooLarge } from '../../../shared/blobs/blobs.ts'
import type { Patch } from '../../../shared/contracts/patch.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import { isRedisFault } from '../../../shared/queue/redis-fault.ts'
import { savePatch, saveTranscript } from '../../../shared/run-files.ts'
import { finalCosts } from '../budget/reconcile.ts'
import type { Deps } from '../deps.ts'
import { describePatch, withoutDropped } from '../files/patch-view.ts'
import { openTree } from '../files/tree.ts'
import { currentVerification } from '../journal/conversation.ts'
import { viewOf } from '../journal/run-view.ts'
import { noteOutcome } from './note-outcome.ts'
import type { Run } from './run.ts'
import { transcriptOf } from './transcript.ts'

export async function publishRun(deps: Deps, run: Run): Promise<void> {
  if (!run.journal.start) return
  const patch = await offeredPatch(run)
  await deps.journal.publish(viewOf(run.journal, await describePatch(run.files, patch)))
}

/** What the run offers to its workspace: the tree's changes, apart from those that the proof dropped. */
async function offeredPatch(run: Run): Promise<Patch> {
  if (run.journal.edits.size === 0) return { files: [] }
  const patch = await (await openTree(run.files, run.journal)).patch()
  return withoutDropped(patch, currentVerification(run.journal)?.dropped_paths ?? [])
}

/** Leaves behind what people need of an ended run. All of it may be repeated. */
export async function concludeRun(deps: Deps, run: Run, log: Logger): Promise<void> {
  await closeLedger(deps, run)
  await stopOpenWork(deps, run)
  await noteOutcome(deps, run)
  const patch = await offeredPatch(run).catch((error): Patch => {
    if (isRedisFault(error)) throw error
    // Its folder was removed: the run has ended all the same, and must not be woken for ever.
    log.error({ err: error }, 'the patch of an ended run cannot be read')
    return { files: [] }
  })
  if (patch.files.length > 0) await keptHere(savePatch(run.files, patch), log)
  await keptHere(saveTranscript(run.files, transcriptOf(run.journal)), log)
  crashPoint('agent.transcript-written')
  await deps.journal.publish(viewOf(run.journal, await describePatch(run.files, patch)))
  crashPoint('agent.view-published')
  await deps.journal.retire(run.runId)
}

/** What is too large for the other machines is still on this one. */
async function keptHere(saved: Promise<unknown>, log: Logger): Promise<void> {
  try {
    await saved
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    log.error({ err: error }, 'other machines cannot see this of an ended run')
  }
}

/**
 * Every attempt has an end now: one that a crash left open is charged in full, a hold that was never
 * sent is given back.
 */
async function closeLedger(deps: Deps, run: Run): Promise<void> {
  const costs = finalCosts(run.journal)
  if (!costs) throw new Error(`run ${run.runId} has not ended`)
  const scope = run.journal.start?.request.mode === 'live' ? 'live' : 'notional'
  await deps.ledgers[scope].closeRun(run.runId, costs)
}

/** Nobody waits for a test run that is still under way, or has yet to begin. */
async function stopOpenWork(deps: Deps, { runId, journal }: Run): Promise<void> {
  const open = [...journal.jobs.keys()].some((key) => !journal.inbox.has(key))
  if (open) await deps.journal.markCancelled(runId)
}
