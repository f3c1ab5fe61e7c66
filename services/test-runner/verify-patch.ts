import { type Manifest, treeHash } from '../../shared/contracts/manifest.ts'
import { type Patch, patchHash } from '../../shared/contracts/patch.ts'
import { outcomeLine, type ReceiptBody } from '../../shared/contracts/receipt.ts'
import type { UnusableTests, Verification } from '../../shared/contracts/tests.ts'
import { crashPoint } from '../../shared/crash-point.ts'
import { type SigningKey, signReceipt } from '../../shared/receipt.ts'
import { loadPatch, type RunFiles } from '../../shared/run-files.ts'
import { loadBaseline, saveBaseline } from './baseline-report.ts'
import { compareRuns, targetsOf } from './compare-runs.ts'
import type { CompletedTests, TestRunConfig } from './completed-tests.ts'
import { proofPatch } from './protected-files.ts'
import { runTests } from './run-tests.ts'
import { MAX_IDS } from './symptom-of.ts'

export type VerifyDeps = {
  config: TestRunConfig
  signingKey: SigningKey
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
}

type Refused = Extract<Verification, { confirmed: false }>
type Proof = { before: CompletedTests; after: CompletedTests; patch: Patch; startedAt: string }

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
  const after = await runTests(
    {
      files,
      manifest,
      command,
      patch: applied,
      baselineMs: before.ms,
      pathEnv,
      signal: deps.signal,
    },
    deps.config,
  )
  if (after.kind === 'unusable') return refused('tests_unusable', after.message, known)
  crashPoint('tests.verified')
  const comparison = compareRuns(before, after)
  const passing_after = comparison.mended.slice(0, MAX_IDS)
  if (comparison.problem) {
    const { reason, message } = comparison.problem
    return refused(reason, withDropped(message, dropped_paths), { ...known, passing_after })
  }
  const body = receiptBody(request, deps, { before, after, patch: applied, startedAt })
  return {
    confirmed: true,
    command,
    outcome: body.outcome,
    passing_after,
    ...known,
    receipt: signReceipt(body, deps.signingKey),
  }
}

async function baselineOf(
  request: VerifyRequest,
  deps: VerifyDeps,
): Promise<CompletedTests | UnusableTests> {
  const { files, manifest, command, pathEnv } = request
  const known = await loadBaseline(files, manifest, command)
  if (known) return known
  const run = await runTests(
    { files, manifest, command, patch: null, baselineMs: null, pathEnv, signal: deps.signal },
    deps.config,
  )
  if (run.kind === 'completed') await saveBaseline(files, manifest, run)
  return run
}

function receiptBody(
  { runId, manifest, command }: VerifyRequest,
  { productVersion }: VerifyDeps,
  { before, after, patch, startedAt }: Proof,
): ReceiptBody {
  const passed = (run: CompletedTests) =>
    run.tests.filter((test) => test.status === 'passed').length
  return {
    version: 1,
    run_id: runId,
    mode: 'A',
    scope: 'complete',
    runner: after.runner,
    command,
    outcome: outcomeLine(after.runner),
    base_tree: treeHash(manifest),
    patch: patchHash(patch),
    targets: targetsOf(before).slice(0, MAX_IDS),
    passed_before: passed(before),
    passed_after: passed(after),
    sandboxed: false,
    started_at: startedAt,
    finished_at: new Date().toISOString(),
    product_version: productVersion,
  }
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
