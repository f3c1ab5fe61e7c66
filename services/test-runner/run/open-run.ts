import { bringDependencies } from '../../../shared/bring-dependencies.ts'
import type { UnusableTests } from '../../../shared/contracts/tests.ts'
import { type RunFiles, runFiles } from '../../../shared/run-files.ts'
import { findSnapshot } from '../../../shared/run-snapshot.ts'
import { userPath } from '../../../shared/user-path.ts'
import type { PlacedManifest } from '../../../shared/workspace.ts'
import type { VerifyDeps } from '../proof/verify-request.ts'
import { unusable } from './unusable.ts'

/** A run as this machine has it. */
export type OpenedRun = {
  kind: 'opened'
  files: RunFiles
  manifest: PlacedManifest
  /** PATH of the person who asked; of this machine, where they asked from another one. */
  pathEnv: string
}

/** Finds what a test run needs, and brings here what was taken on another machine. */
export async function openRun(
  { run_id: runId, path_env: pathEnv }: { run_id: string; path_env: string },
  { config, blobs }: Pick<VerifyDeps, 'config' | 'blobs'>,
): Promise<OpenedRun | UnusableTests> {
  const files = runFiles(config.home, runId, blobs)
  const { base, manifest, arrived } = await findSnapshot(files)
  if (!arrived) return { kind: 'opened', files, manifest, pathEnv }
  const dependencies = await bringDependencies(files, arrived)
  if (dependencies.kind === 'missing') {
    return unusable('dependencies_missing', dependencies.message)
  }
  const { folders } = dependencies
  if (folders.length > 0 && !config.sandbox.isSandbox) {
    const why =
      'dependency folders of another machine can be shown at their own paths by a sandbox only'
    return unusable('no_sandbox', why)
  }
  return {
    kind: 'opened',
    files: { ...files, base },
    manifest: { ...manifest, arrived: { dependencies: folders } },
    // Folders of theirs may be anything here.
    pathEnv: userPath(process.env),
  }
}
