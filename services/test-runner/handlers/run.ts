import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { loadPatch, runFiles } from '../../../shared/run-files.ts'
import { readManifest } from '../../../shared/workspace.ts'
import { loadBaseRun } from '../proof/baseline-report.ts'
import { verifyPatch } from '../proof/verify-patch.ts'
import type { VerifyDeps } from '../proof/verify-request.ts'
import { counted, isRed } from '../run/counted.ts'
import { runTests } from '../run/run-tests.ts'
import { symptomOf } from '../run/symptom-of.ts'

/** Runs the tests with the patch as it is; when they are green, verifies it in the same job. */
export async function run(
  payload: Payload<'tests', 'run'>,
  deps: VerifyDeps,
): Promise<Result<'tests', 'run'>> {
  const files = runFiles(deps.config.home, payload.run_id)
  const manifest = await readManifest(files)
  const patch = payload.patch === null ? null : await loadPatch(files, payload.patch)
  const { command, path_env: pathEnv, run_id: runId } = payload
  const { isSandbox: sandboxed } = deps.config.sandbox
  const base = { manifest, command, pathEnv, sandboxed, targets: null }
  const before = await loadBaseRun(files, base)
  const baselineMs = before?.ms ?? null
  const request = {
    files,
    manifest,
    command,
    patch,
    selection: null,
    baselineMs,
    pathEnv,
    signal: deps.signal,
  }
  const tests = await runTests(request, deps.config)
  if (tests.kind === 'unusable') return tests
  if (isRed(tests)) {
    const symptom = symptomOf(tests.runner, tests.tests, tests.output)
    return { kind: 'red', symptom, ...counted(tests) }
  }
  const asked = { runId, files, manifest, command, patch: payload.patch, pathEnv }
  const verification = await verifyPatch({ ...asked, fresh: false, green: tests }, deps)
  return { kind: 'green', verification, ...counted(tests) }
}
