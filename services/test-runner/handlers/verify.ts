import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { runFiles } from '../../../shared/run-files.ts'
import { readManifest } from '../../../shared/workspace.ts'
import { verifyPatch } from '../proof/verify-patch.ts'
import type { VerifyDeps } from '../proof/verify-request.ts'

/** Verifies a patch without a run before it: a run ends with this verdict on its current tree. */
export async function verify(
  payload: Payload<'tests', 'verify'>,
  deps: VerifyDeps,
): Promise<Result<'tests', 'verify'>> {
  const files = runFiles(deps.config.home, payload.run_id)
  const manifest = await readManifest(files)
  const { command, patch, path_env: pathEnv, run_id: runId, fresh = false } = payload
  const request = { runId, files, manifest, command, patch, pathEnv, fresh, green: null }
  return verifyPatch(request, deps)
}
