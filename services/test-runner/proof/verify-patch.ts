import type { Patch } from '../../../shared/contracts/patch.ts'
import type { UnusableTests, Verification } from '../../../shared/contracts/tests.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import { loadSigningKey } from '../../../shared/keys/signing-key.ts'
import { signReceipt } from '../../../shared/receipt.ts'
import { loadPatch } from '../../../shared/run-files.ts'
import type { CompletedTests } from '../run/completed-tests.ts'
import type { TestEntry } from '../run/report.ts'
import { MAX_IDS } from '../run/symptom-of.ts'
import { compareAll } from './compare-all.ts'
import { compareWhole, failuresOf, type Problem } from './compare-runs.ts'
import { aloneOnBase, alonePatched, wholeOnBase, wholePatched } from './proof-runs.ts'
import { proofPatch } from './protected-files.ts'
import { receiptBody } from './receipt-body.ts'
import type { VerifyDeps, VerifyRequest } from './verify-request.ts'

type Refused = Extract<Verification, { confirmed: false }>

/**
 * Proves that a patch turns the failing tests green, on fresh copies: the whole command on the base
 * (B1) and with the patch (P1), then the failing tests' files alone on both (B2, P2), all tests and
 * their configuration as the base has them. Every refusal is a value with a reason.
 */
export async function verifyPatch(request: VerifyRequest, deps: VerifyDeps): Promise<Verification> {
  const startedAt = new Date().toISOString()
  const known = nothingKnown(request.command)
  const refused = ({ reason, message }: Problem): Refused => ({
    ...known,
    confirmed: false,
    reason,
    message: withDropped(message, known.dropped_paths),
  })
  if (request.patch === null) return refused({ reason: 'no_patch', message: 'nothing was edited' })
  const before = await wholeOnBase(request, deps)
  if (before.kind === 'unusable') return refused(unusable(before))
  known.command = before.command
  known.failing_before = idsOf(failuresOf(before))
  const testFiles = new Set(before.tests.map((test) => test.file))
  const patch = await loadPatch(request.files, request.patch)
  const { applied, dropped } = proofPatch(patch, testFiles)
  known.dropped_paths = dropped
  const hopeless = patchProblem(before, applied, dropped)
  if (hopeless) return refused(hopeless)

  const p1 = await wholePatched(request, before, applied, deps)
  if (p1.kind === 'unusable') return refused(unusable(p1))
  const { mended, problem } = compareWhole(before, p1)
  known.passing_after = mended.slice(0, MAX_IDS)
  if (problem) return refused(problem)

  const b2 = await aloneOnBase(request, before, deps)
  if (b2.kind === 'refused') return refused(b2.problem)
  const p2 = await alonePatched(request, before, applied, deps)
  if (p2.kind === 'refused') return refused(p2.problem)
  crashPoint('tests.verified')
  const runs = { b1: before, p1, b2: b2.run, p2: p2.run }
  const { targets, flaky, problem: disagreement } = compareAll(runs)
  known.flaky = flaky.slice(0, MAX_IDS)
  known.passing_after = targets.slice(0, MAX_IDS)
  if (disagreement) return refused(disagreement)

  const { runId, manifest } = request
  const { productVersion, config } = deps
  const proof = { runId, manifest, patch: applied, runs, targets, flaky, canary: p2.canary }
  const body = receiptBody({ ...proof, startedAt, productVersion })
  return {
    ...known,
    confirmed: true,
    outcome: body.outcome,
    failing_before: body.targets,
    receipt: signReceipt(body, loadSigningKey(config.home)),
  }
}

/** The verdict on a patch whose tests cannot be run here at all. */
export function unusableVerification(command: string | null, tests: UnusableTests): Verification {
  return { ...nothingKnown(command), confirmed: false, ...unusable(tests) }
}

function nothingKnown(command: string | null): Omit<Refused, 'confirmed' | 'reason' | 'message'> {
  return {
    command: command ?? '',
    failing_before: [],
    passing_after: [],
    flaky: [],
    dropped_paths: [],
  }
}

function idsOf(tests: readonly TestEntry[]): string[] {
  return tests.slice(0, MAX_IDS).map((test) => test.id)
}

/** Why no run with the patch could prove anything. */
function patchProblem(before: CompletedTests, patch: Patch, dropped: readonly string[]) {
  if (before.runner === 'cargo') return UNPROVABLE
  return patch.files.length > 0
    ? null
    : { reason: 'no_patch' as const, message: nothingLeft(dropped) }
}

const UNPROVABLE: Problem = {
  reason: 'unprovable_runner',
  message:
    'results of cargo test cannot be proved: Rust tests may stand in the source files themselves',
}

function unusable({ message }: UnusableTests): Problem {
  return { reason: 'tests_unusable', message }
}

function nothingLeft(dropped: readonly string[]): string {
  return dropped.length > 0
    ? 'the patch changes only tests or their configuration, which must stay as they are: repair the source'
    : 'the patch adds only tests: repair the source'
}

function withDropped(message: string, dropped: readonly string[]): string {
  if (dropped.length === 0) return message
  return `${message}; changes to tests or their configuration do not count: ${dropped.join(', ')}`
}
