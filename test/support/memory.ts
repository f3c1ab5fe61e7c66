import type { MemoryPolicy } from '../../services/memory-store/lifecycle/policy.ts'
import { memoryIdOf } from '../../shared/contracts/ids.ts'
import type { StorePayload } from '../../shared/contracts/memory.ts'
import type { ProvedRun, Receipt, ReceiptBody } from '../../shared/contracts/receipt.ts'
import type { FixClaim, FixEvidence, MemoryRecord } from '../../shared/contracts/record.ts'
import type { SigningKey } from '../../shared/keys/signing-key.ts'
import { signReceipt } from '../../shared/receipt.ts'

export const shareAll: MemoryPolicy = { sharing: 'all', group: null, days: null }

export const sampleClaim: FixClaim = {
  fix_description: 'Trim each name of the comma-separated list before it is compared',
  error_type: 'AssertionError',
  file_paths: ['src/names.ts'],
  outcome: 'node passed with exit code 0',
}

export const sampleEvidence: FixEvidence = {
  symptom_raw: 'not ok 1 - takes a list with spaces\n  expected true, got false',
  symptom: 'not ok - takes a list with spaces expected true, got false',
  diff: '--- src/names.ts\n+++ src/names.ts\n',
  language: 'typescript',
  framework: 'node',
  repository_id: 'repository-1',
  failing_tests: ['test/names.test.ts > takes a list with spaces'],
  model: 'gpt-6-astra',
}

/** A record as the store keeps it; its id follows from what it holds. */
export function sampleRecord(changes: Partial<MemoryRecord> = {}): MemoryRecord {
  const record = {
    ...sampleClaim,
    ...sampleEvidence,
    timestamp: '2026-11-01T10:00:00Z',
    session_id: 'run-1',
    receipt: null,
    group: null,
    merged: [],
    scrubbed: [],
    shown: 0,
    confirmed: 0,
    unconfirmed: 0,
    superseded_by: null,
    revoked_at: null,
    ...changes,
  }
  return { ...record, memory_id: memoryIdOf(record) }
}

function provedRun(passed: number, failed: number, exit_code: number): ProvedRun {
  return { passed, failed, skipped: 0, exit_code, digest: 'd'.repeat(64) }
}

export const sampleResults: ReceiptBody['results'] = {
  b1: provedRun(2, 1, 1),
  p1: provedRun(3, 0, 0),
  b2: provedRun(2, 1, 1),
  p2: provedRun(3, 0, 1),
}

export function sampleReceipt(key: SigningKey, changes: Partial<ReceiptBody> = {}): Receipt {
  const body: ReceiptBody = {
    version: 2,
    run_id: 'run-1',
    repository_id: 'repository-1',
    mode: 'A',
    scope: 'complete',
    runner: 'node',
    command: 'node --test',
    outcome: 'node passed with exit code 0',
    base_tree: 'a'.repeat(64),
    patch: 'b'.repeat(64),
    patched_tree: 'c'.repeat(64),
    targets: ['test/names.test.ts > takes a list with spaces'],
    target_count: 1,
    flaky: [],
    results: sampleResults,
    canary: ['test/1f8e4a3b.test.ts > 1f8e4a3b must fail'],
    sandboxed: false,
    started_at: '2026-11-01T09:59:58Z',
    finished_at: '2026-11-01T10:00:00Z',
    product_version: '0.1.0',
    ...changes,
  }
  return signReceipt(body, key)
}

/** A store job of a session, with a receipt of that session's own. */
export function samplePayload(
  key: SigningKey,
  sessionId: string,
  claim: Partial<FixClaim> = {},
): StorePayload {
  return {
    claim: { ...sampleClaim, ...claim },
    evidence: sampleEvidence,
    session_id: sessionId,
    confirmed_at: '2026-11-01T10:00:00+01:00',
    receipt: sampleReceipt(key, { run_id: sessionId }),
  }
}

/** A unit vector that follows from `seed` alone. */
export function seededVector(seed: number, dimensions: number): Float32Array {
  let state = seed * 2654435761 + 1
  const next = () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) | 0
    return (state >>> 8) / 2 ** 24 - 0.5
  }
  const values = Float32Array.from({ length: dimensions }, next)
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}
