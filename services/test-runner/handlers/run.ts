import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { loadPatch } from '../../../shared/run-files.ts'
import { wholeOnBase } from '../proof/proof-runs.ts'
import { verifyPatch } from '../proof/verify-patch.ts'
import type { VerifyDeps } from '../proof/verify-request.ts'
import { counted, isRed } from '../run/counted.ts'
import { openRun } from '../run/open-run.ts'
import { runTests } from '../run/run-tests.ts'
import { symptomOf } from '../run/symptom-of.ts'

/** Runs the tests with the patch as it is; when they are green, verifies it in the same job. */
export async function run(
  payload: Payload<'tests', 'run'>,
  deps: VerifyDeps,
): Promise<Result<'tests', 'run'>> {
  const opened = await openRun(payload, deps)
  if (opened.kind === 'unusable') return opened
  const { files, manifest, pathEnv } = opened
  const patch = payload.patch === null ? null : await loadPatch(files, payload.patch)
  const { command, run_id: runId } = payload
  const asked = { runId, files, manifest, command, patch: payload.patch, pathEnv, fresh: false }
  // Made here where another machine ran the baseline: for its time limit, build caches, and the proof.
  const before = await wholeOnBase({ ...asked, green: null }, deps)
  const baselineMs = before.kind === 'completed' ? before.ms : null
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
  const verification = await verifyPatch({ ...asked, green: tests }, deps)
  return { kind: 'green', verification, ...counted(tests) }
}
