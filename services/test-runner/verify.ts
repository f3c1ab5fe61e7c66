import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import { runFiles } from '../../shared/run-files.ts'
import { readManifest } from '../../shared/workspace.ts'
import { baseline } from './baseline.ts'
import { type VerifyDeps, verifyPatch } from './verify-patch.ts'

/** Verifies a patch without a run before it: a run ends with this verdict on its current tree. */
export async function verify(
  payload: Payload<'tests', 'verify'>,
  deps: VerifyDeps,
): Promise<Result<'tests', 'verify'>> {
  const { command, fresh } = payload
  if (command !== null) return verifyCommand(payload, { command, fresh: fresh ?? false }, deps)
  // The first run on the base finds the command. It was made just now: it counts as fresh.
  const before = await baseline(payload, deps)
  if (before.kind !== 'unusable') {
    return verifyCommand(payload, { command: before.command, fresh: false }, deps)
  }
  return {
    confirmed: false,
    command: '',
    reason: 'tests_unusable',
    message: before.message,
    failing_before: [],
    passing_after: [],
    dropped_paths: [],
  }
}

async function verifyCommand(
  { run_id: runId, patch, path_env: pathEnv }: Payload<'tests', 'verify'>,
  { command, fresh }: { command: string; fresh: boolean },
  deps: VerifyDeps,
): Promise<Result<'tests', 'verify'>> {
  const files = runFiles(deps.config.home, runId)
  const manifest = await readManifest(files)
  return verifyPatch({ runId, files, manifest, command, patch, pathEnv, fresh }, deps)
}
