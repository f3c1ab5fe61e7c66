import type { Manifest } from '../../shared/contracts/manifest.ts'
import type { Patch } from '../../shared/contracts/patch.ts'
import type { UnusableTests, Verification } from '../../shared/contracts/tests.ts'
import { crashPoint } from '../../shared/crash-point.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { signReceipt } from '../../shared/receipt.ts'
import { loadPatch, type RunFiles } from '../../shared/run-files.ts'
import { loadBaseline, saveBaseline } from './baseline-report.ts'
import { compareRuns, targetsOf } from './compare-runs.ts'
import type { CompletedTests, TestRunConfig } from './completed-tests.ts'
import { proofPatch } from './protected-files.ts'
import { receiptBody } from './receipt-body.ts'
import { runTests } from './run-tests.ts'
import { MAX_IDS } from './symptom-of.ts'

export type VerifyDeps = {
  config: TestRunConfig
  productVersion: string
  signal: AbortSignal
}

export type VerifyRequest = {
  runId: string
  files: RunFiles
  manifest: Manifest
  command: string
  /** Names a patch of the run; null: nothing was edited. */
  patch: string | null
  pathEnv: string
  /** No saved baseline counts. */
  fresh?: boolean
}

type Refused = Extract<Verification, { confirmed: false }>

/**
 * Proves that a patch turns the failing tests green: a fresh copy of the base, the patch on it, all
 * tests and their configuration as the base has them. Every refusal is a value with a reason.
 */
export async function verifyPatch(request: VerifyRequest, deps: VerifyDeps): Promise<Verification> {
  const startedAt = new Date().toISOString()
  const { command, files, manifest } = request
  const refused = (reason: Refused['reason'], message: string, known: Partial<Refused> = {}) => ({
    confirmed: false as const,
    command,
    reason,
    message,
    failing_before: [],
    passing_after: [],
    dropped_paths: [],
    ...known,
  })
  if (request.patch === null) return refused('no_patch', 'nothing was edited')
  const patch = await loadPatch(files, request.patch)
  const before = await baselineOf(request, deps)
  if (before.kind === 'unusable') return refused('tests_unusable', before.message)
  const failing_before = targetsOf(before).slice(0, MAX_IDS)
  const testFiles = new Set(before.tests.map((test) => test.file))
  const { applied, dropped: dropped_paths } = proofPatch(patch, testFiles)
  const known = { failing_before, dropped_paths }
  if (before.runner === 'cargo') {
    const message =
      'results of cargo test cannot be proved: Rust tests may stand in the source files themselves'
    return refused('unprovable_runner', message, known)
  }
  if (applied.files.length === 0) return refused('no_patch', nothingLeft(dropped_paths), known)

  const { pathEnv } = request
  const again = (patched: Patch | null) =>
    runTests(
      {
        files,
        manifest,
        command,
        patch: patched,
        selection: null,
        baselineMs: before.ms,
        pathEnv,
        signal: deps.signal,
      },
      deps.config,
    )
  const after = await again(applied)
  if (after.kind === 'unusable') return refused('tests_unusable', after.message, known)
  crashPoint('tests.verified')
  const comparison = compareRuns(before, after)
  const passing_after = comparison.mended.slice(0, MAX_IDS)
  if (comparison.problem) {
    const { reason, message } = comparison.problem
    return refused(reason, withDropped(message, dropped_paths), { ...known, passing_after })
  }
  const b2 = await again(null)
  if (b2.kind === 'unusable') return refused('tests_unusable', b2.message, known)
  const p2 = await again(applied)
  if (p2.kind === 'unusable') return refused('tests_unusable', p2.message, known)
  const secondly = compareRuns(b2, p2).problem
  if (secondly) return refused(secondly.reason, secondly.message, known)
  const body = receiptBody({
    runId: request.runId,
    manifest,
    patch: applied,
    runs: { b1: before, p1: after, b2, p2 },
    targets: targetsOf(before),
    flaky: [],
    canary: [],
    startedAt,
    productVersion: deps.productVersion,
  })
  return {
    confirmed: true,
    command,
    outcome: body.outcome,
    passing_after,
    ...known,
    // Read now: the key may have been rotated since this process started.
    receipt: signReceipt(body, loadSigningKey(deps.config.home)),
  }
}

async function baselineOf(
  request: VerifyRequest,
  deps: VerifyDeps,
): Promise<CompletedTests | UnusableTests> {
  const { files, manifest, command, pathEnv } = request
  const known = request.fresh ? null : await loadBaseline(files, manifest, command)
  if (known) return known
  const run = await runTests(
    {
      files,
      manifest,
      command,
      patch: null,
      selection: null,
      baselineMs: null,
      pathEnv,
      signal: deps.signal,
    },
    deps.config,
  )
  if (run.kind === 'completed') await saveBaseline(files, manifest, run)
  return run
}

function nothingLeft(dropped: readonly string[]): string {
  return dropped.length > 0
    ? `the patch changes only tests or their configuration (${dropped.join(', ')}), which must stay as they are: repair the source`
    : 'the patch adds only tests: repair the source'
}

function withDropped(message: string, dropped: readonly string[]): string {
  if (dropped.length === 0) return message
  return `${message}; changes to tests or their configuration do not count: ${dropped.join(', ')}`
}
