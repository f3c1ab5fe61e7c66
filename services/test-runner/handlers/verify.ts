import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { unusableVerification, verifyPatch } from '../proof/verify-patch.ts'
import type { VerifyDeps } from '../proof/verify-request.ts'
import { openRun } from '../run/open-run.ts'

/** Verifies a patch without a run before it: a run ends with this verdict on its current tree. */
export async function verify(
  payload: Payload<'tests', 'verify'>,
  deps: VerifyDeps,
): Promise<Result<'tests', 'verify'>> {
  const opened = await openRun(payload, deps)
  const { command, patch, run_id: runId, fresh = false } = payload
  if (opened.kind === 'unusable') return unusableVerification(command, opened)
  const { files, manifest, pathEnv } = opened
  const request = { runId, files, manifest, command, patch, pathEnv, fresh, green: null }
  return verifyPatch(request, deps)
}
