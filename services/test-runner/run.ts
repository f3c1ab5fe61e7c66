import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import { loadPatch, runFiles } from '../../shared/run-files.ts'
import { readManifest } from '../../shared/workspace.ts'
import { loadBaseline } from './baseline-report.ts'
import { counted, isRed } from './counted.ts'
import { runTests } from './run-tests.ts'
import { symptomOf } from './symptom-of.ts'
import { type VerifyDeps, verifyPatch } from './verify-patch.ts'

/** Runs the tests with the patch as it is; when they are green, verifies it in the same job. */
export async function run(
  payload: Payload<'tests', 'run'>,
  deps: VerifyDeps,
): Promise<Result<'tests', 'run'>> {
  const files = runFiles(deps.config.home, payload.run_id)
  const manifest = await readManifest(files)
  const patch = payload.patch === null ? null : await loadPatch(files, payload.patch)
  const { command, path_env: pathEnv, run_id: runId } = payload
  const before = await loadBaseline(files, manifest, command)
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
  const verification = await verifyPatch(
    { runId, files, manifest, command, patch: payload.patch, pathEnv },
    deps,
  )
  return { kind: 'green', verification, ...counted(tests) }
}
