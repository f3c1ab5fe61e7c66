import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { UsageError } from '../../shared/errors.ts'
import { loadPatch, runFiles, writeFileAtomic } from '../../shared/run-files.ts'
import { type ApplyResult, applyPatch } from './apply-patch.ts'

const markerOf = (home: string, runId: string) => join(runFiles(home, runId).dir, 'applied.json')

/**
 * Applies the verified patch of a run that ended `fixed`, and keeps that it was. Throws UsageError
 * when the run has no such patch.
 */
export async function applyRun(
  home: string,
  view: RunView,
  workspace: string,
): Promise<ApplyResult> {
  if (view.status !== 'fixed' || view.patch_hash === null) {
    throw new UsageError(
      `run ${view.run_id} is ${view.status}: it has no verified patch to apply`,
      { hint: `\`astra status ${view.run_id}\` shows what it did` },
    )
  }
  const patch = await loadPatch(runFiles(home, view.run_id), view.patch_hash)
  const result = await applyPatch(workspace, patch)
  if (result.applied) {
    const note = { workspace, patch: view.patch_hash, at: new Date().toISOString() }
    await writeFileAtomic(markerOf(home, view.run_id), JSON.stringify(note))
  }
  return result
}

/** Whether the run's patch was applied, by `fix` or by `apply`. */
export function wasApplied(home: string, runId: string): boolean {
  return existsSync(markerOf(home, runId))
}
