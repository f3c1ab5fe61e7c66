import { sha256 } from '../../../shared/contracts/ids.ts'
import { type Manifest, patchedTreeHash, treeHash } from '../../../shared/contracts/manifest.ts'
import { type Patch, patchHash } from '../../../shared/contracts/patch.ts'
import { outcomeLine, type ProvedRun, type ReceiptBody } from '../../../shared/contracts/receipt.ts'
import type { CompletedTests } from '../run/completed-tests.ts'
import { counted } from '../run/counted.ts'
import { MAX_IDS } from '../run/symptom-of.ts'
import type { ProofRuns } from './compare-all.ts'

type Proof = {
  runId: string
  manifest: Manifest
  patch: Patch
  runs: ProofRuns
  targets: readonly string[]
  flaky: readonly string[]
  canary: readonly string[]
  startedAt: string
  productVersion: string
}

/** What a proof says, ready to be signed. */
export function receiptBody(proof: Proof): ReceiptBody {
  const { manifest, patch, runs, targets } = proof
  const { b1, p1, b2, p2 } = runs
  return {
    version: 2,
    run_id: proof.runId,
    repository_id: manifest.repository_id ?? null,
    mode: 'A',
    scope: 'complete',
    runner: p1.runner,
    command: p1.command,
    outcome: outcomeLine(p1.runner),
    base_tree: treeHash(manifest),
    patch: patchHash(patch),
    patched_tree: patchedTreeHash(manifest, patch),
    targets: targets.slice(0, MAX_IDS),
    target_count: targets.length,
    flaky: proof.flaky.slice(0, MAX_IDS),
    results: { b1: provedRun(b1), p1: provedRun(p1), b2: provedRun(b2), p2: provedRun(p2) },
    canary: [...proof.canary],
    sandboxed: [b1, p1, b2, p2].every((run) => run.sandboxed),
    started_at: proof.startedAt,
    finished_at: new Date().toISOString(),
    product_version: proof.productVersion,
  }
}

function provedRun(run: CompletedTests): ProvedRun {
  const { passed, failed } = counted(run)
  const states = run.tests.map((test) => [test.id, test.status] as const)
  const sorted = states.sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    passed,
    failed,
    skipped: run.tests.length - passed - failed,
    exit_code: run.exitCode,
    digest: sha256(JSON.stringify(sorted)),
  }
}
