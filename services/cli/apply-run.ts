import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { AstraError, UsageError } from '../../shared/errors.ts'
import { loadPatch, runFiles, writeFileAtomic } from '../../shared/run-files.ts'
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
): Promise<AppliedRun> {
  if (view.status !== 'fixed' || view.patch_hash === null) {
    throw new UsageError(
      `run ${view.run_id} is ${view.status}: it has no verified patch to apply`,
      { hint: `\`astra status ${view.run_id}\` shows what it did` },
    )
  }
  const files = runFiles(home, view.run_id)
  const patch = await loadPatch(files, view.patch_hash)
  const others = await changedBesides(files, workspace, patch)
  if (besides === 'refuse' && others.length > 0)
    return { applied: false, changed: others, done: [] }
  const note = { workspace, patch: view.patch_hash, at: new Date().toISOString() }
  await writeFileAtomic(begunOf(home, view.run_id), JSON.stringify(note))
  const result = await applyOrForget(home, view.run_id, () => applyPatch(workspace, patch))
  if (!result.applied) return result
  await writeFileAtomic(markerOf(home, view.run_id), JSON.stringify(note))
  await rm(begunOf(home, view.run_id), { force: true })
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
