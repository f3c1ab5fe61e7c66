import { type Patch, patchHash } from '../../../shared/contracts/patch.ts'
import type { UnusableTests } from '../../../shared/contracts/tests.ts'
import type { CompletedTests } from '../run/completed-tests.ts'
import { runTests } from '../run/run-tests.ts'
import { type BaseRun, loadBaseRun, saveBaseRun } from './baseline-report.ts'
import { failuresOf } from './compare-runs.ts'
import { type AloneRun, runAlone } from './run-alone.ts'
import type { VerifyDeps, VerifyRequest } from './verify-request.ts'

/** B1: the whole command on the base. */
export async function wholeOnBase(
  request: VerifyRequest,
  deps: VerifyDeps,
): Promise<CompletedTests | UnusableTests> {
  const saved = await savedRun(request, request.command, null, deps)
  if (saved) return saved
  const asked = { ...commonOf(request, deps), command: request.command, baselineMs: null }
  const run = await runTests({ ...asked, patch: null, selection: null }, deps.config)
  if (run.kind === 'completed') {
    await saveBaseRun(request.files, baseRun(request, run, null), run)
  }
  return run
}

/** P1: the whole command on the patched tree. A run that was made of that very tree is it. */
export async function wholePatched(
  request: VerifyRequest,
  before: CompletedTests,
  patch: Patch,
  deps: VerifyDeps,
): Promise<CompletedTests | UnusableTests> {
  const { green } = request
  if (green && patchHash(patch) === request.patch) return green
  const asked = { ...commonOf(request, deps), command: before.command, baselineMs: before.ms }
  return runTests({ ...asked, patch, selection: null }, deps.config)
}

/** B2: the failing tests' files alone on the base. */
export async function aloneOnBase(
  request: VerifyRequest,
  before: CompletedTests,
  deps: VerifyDeps,
): Promise<AloneRun> {
  const targets = failuresOf(before).map((test) => test.id)
  const saved = await savedRun(request, before.command, targets, deps)
  if (saved) return { kind: 'completed', run: saved, canary: [] }
  const alone = await runAlone(aloneRequest(request, before, null, deps), deps.config)
  if (alone.kind === 'completed') {
    await saveBaseRun(request.files, baseRun(request, alone.run, targets), alone.run)
  }
  return alone
}

/** P2: the failing tests' files alone on the patched tree. */
export function alonePatched(
  request: VerifyRequest,
  before: CompletedTests,
  patch: Patch,
  deps: VerifyDeps,
): Promise<AloneRun> {
  return runAlone(aloneRequest(request, before, patch, deps), deps.config)
}

function aloneRequest(
  request: VerifyRequest,
  before: CompletedTests,
  patch: Patch | null,
  deps: VerifyDeps,
) {
  const asked = { ...commonOf(request, deps), command: before.command, baselineMs: before.ms }
  return { ...asked, patch, before, targets: failuresOf(before) }
}

function commonOf({ files, manifest, pathEnv }: VerifyRequest, { signal }: VerifyDeps) {
  return { files, manifest, pathEnv, signal }
}

async function savedRun(
  { files, manifest, pathEnv, fresh }: VerifyRequest,
  command: string | null,
  targets: readonly string[] | null,
  { config }: VerifyDeps,
): Promise<CompletedTests | null> {
  if (fresh || command === null) return null
  const { isSandbox: sandboxed } = config.sandbox
  return loadBaseRun(files, { manifest, command, pathEnv, sandboxed, targets })
}

function baseRun(
  { manifest, pathEnv }: VerifyRequest,
  { command, sandboxed }: CompletedTests,
  targets: readonly string[] | null,
): BaseRun {
  return { manifest, command, pathEnv, sandboxed, targets }
}
