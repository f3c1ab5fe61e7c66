import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Blobs } from '../../../shared/blobs/blobs.ts'
import type { Patch } from '../../../shared/contracts/patch.ts'
import type { RunView } from '../../../shared/contracts/run-view.ts'
import { AstraError, UsageError } from '../../../shared/errors.ts'
import { loadPatch, type RunFiles, runFiles, writeFileAtomic } from '../../../shared/run-files.ts'
import { withApplyLock } from './apply-lock.ts'
import { type ApplyResult, applyPatch } from './apply-patch.ts'
import { changedBesides } from './changed-besides.ts'

/** `besides` names files outside the patch that are not as they were when it was proved. */
export type AppliedRun =
  | { applied: true; besides: string[] }
  | Extract<ApplyResult, { applied: false }>

const markerOf = (home: string, runId: string) => join(runFiles(home, runId).dir, 'applied.json')
const begunOf = (home: string, runId: string) => join(runFiles(home, runId).dir, 'applying.json')

/**
 * Applies the verified patch of a run that ended `fixed`, and keeps that it was. The tests passed
 * with all files as they were, so nothing is applied by itself after any of them changed; a person
 * who asks for it (`besides: 'report'`) gets the patch as long as its own files are unchanged.
 * Throws UsageError when the run has no such patch.
 */
export async function applyRun(
  home: string,
  view: RunView,
  workspace: string,
  besides: 'refuse' | 'report',
  blobs: Blobs | null = null,
): Promise<AppliedRun> {
  if (view.status !== 'fixed' || view.patch_hash === null) {
    throw new UsageError(
      `run ${view.run_id} is ${view.status}: it has no verified patch to apply`,
      { hint: `\`astra status ${view.run_id}\` shows what it did` },
    )
  }
  const files = runFiles(home, view.run_id, blobs)
  const patch = await loadPatch(files, view.patch_hash)
  const order = {
    home,
    files,
    runId: view.run_id,
    workspace,
    patch,
    hash: view.patch_hash,
    besides,
  }
  return withApplyLock(home, workspace, () => applyLocked(order))
}

type Order = {
  home: string
  files: RunFiles
  runId: string
  workspace: string
  patch: Patch
  hash: string
  besides: 'refuse' | 'report'
}

async function applyLocked(order: Order): Promise<AppliedRun> {
  const { home, files, runId, workspace, patch } = order
  const others = await changedBesides(files, workspace, patch)
  if (order.besides === 'refuse' && others.length > 0) {
    return { applied: false, changed: others, done: [] }
  }
  const note = { workspace, patch: order.hash, at: new Date().toISOString() }
  await writeFileAtomic(begunOf(home, runId), JSON.stringify(note))
  const result = await applyOrForget(home, runId, () => applyPatch(workspace, patch))
  if (!result.applied) return result
  await writeFileAtomic(markerOf(home, runId), JSON.stringify(note))
  await rm(begunOf(home, runId), { force: true })
  return { applied: true, besides: others }
}

/** Forgets that it was begun when nothing of the patch is in the workspace. */
async function applyOrForget(
  home: string,
  runId: string,
  apply: () => Promise<ApplyResult>,
): Promise<ApplyResult> {
  const forget = () => rm(begunOf(home, runId), { force: true })
  try {
    const result = await apply()
    if (!result.applied && result.done.length === 0) await forget()
    return result
  } catch (error) {
    if (!(error instanceof AstraError && error.code === 'half_applied')) await forget()
    throw error
  }
}

/** Whether the run's patch was applied, by `fix` or by `apply`. */
export function wasApplied(home: string, runId: string): boolean {
  return existsSync(markerOf(home, runId))
}

/** What to say of a run whose patch is in the workspace in part: its apply was killed; else null. */
export function cutOff(home: string, runId: string): string | null {
  if (wasApplied(home, runId) || !existsSync(begunOf(home, runId))) return null
  return 'it was begun and cut off: some files may have the patch already'
}
