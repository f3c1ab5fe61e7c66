import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { saveBaseRun } from '../proof/baseline-report.ts'
import type { VerifyDeps } from '../proof/verify-request.ts'
import { counted, isRed } from '../run/counted.ts'
import { openRun } from '../run/open-run.ts'
import { runTests } from '../run/run-tests.ts'
import { symptomOf } from '../run/symptom-of.ts'

/** The state of a run's tests before anything was edited. */
export async function baseline(
  payload: Payload<'tests', 'baseline'>,
  deps: Pick<VerifyDeps, 'config' | 'blobs' | 'signal'>,
): Promise<Result<'tests', 'baseline'>> {
  const opened = await openRun(payload, deps)
  if (opened.kind === 'unusable') return opened
  const { files, manifest, pathEnv } = opened
  const { command } = payload
  const request = {
    files,
    manifest,
    command,
    patch: null,
    selection: null,
    baselineMs: null,
    pathEnv,
    signal: deps.signal,
  }
  const run = await runTests(request, deps.config)
  if (run.kind === 'unusable') return run
  const of = { manifest, command: run.command, pathEnv, sandboxed: run.sandboxed, targets: null }
  await saveBaseRun(files, of, run)
  const { commands } = run
  if (!isRed(run)) return { kind: 'green', commands, ...counted(run) }
  const symptom = symptomOf(run.runner, run.tests, run.output)
  return { kind: 'red', commands, symptom, ...counted(run) }
}
