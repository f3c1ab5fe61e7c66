import { z } from 'zod'
import { runIdSchema, sha256Schema } from './ids.ts'

/** The runners whose tests can be proved; `cargo` has a baseline and a symptom only. */
export const runnerSchema = z.enum([
  'pytest',
  'unittest',
  'node',
  'vitest',
  'jest',
  'mocha',
  'go',
  'cargo',
])
export type Runner = z.infer<typeof runnerSchema>

/** `<runner> passed with exit code 0`: the only outcome that a record can be stored with. */
export const outcomeLineSchema = z
  .string()
  .regex(/^(pytest|unittest|node|vitest|jest|mocha|go) passed with exit code 0$/)

export function outcomeLine(runner: Runner): string {
  return `${runner} passed with exit code 0`
}

const count = z.number().int().nonnegative()

/** One run of the tests, without its canaries. */
export const provedRunSchema = z.strictObject({
  passed: count,
  failed: count,
  skipped: count,
  exit_code: z.number().int(),
  /** SHA-256 over the sorted list of [id, status]. */
  digest: sha256Schema,
})
export type ProvedRun = z.infer<typeof provedRunSchema>

/** What the test-runner saw by itself, before it is signed. */
export const receiptBodySchema = z.strictObject({
  version: z.literal(2),
  run_id: runIdSchema,
  repository_id: z.string().nullable(),
  /** Whose tests: A, those of the base; B, those of the head, on both sources. */
  mode: z.enum(['A', 'B']),
  /** `partial`: the targets pass, other tests still fail as before. */
  scope: z.enum(['complete', 'partial']),
  runner: runnerSchema,
  command: z.string(),
  outcome: outcomeLineSchema,
  base_tree: sha256Schema,
  /** Of what the proof was made with: without changes to protected files. */
  patch: sha256Schema,
  /** The base with that patch. */
  patched_tree: sha256Schema,
  /** Capped; `target_count` is of all. */
  targets: z.array(z.string()).min(1),
  target_count: z.number().int().positive(),
  /** Tests that differed between two runs of the same tree; capped. */
  flaky: z.array(z.string()),
  /** B: the base, P: patched; 1: the whole command, 2: the targets' files only. */
  results: z.strictObject({
    b1: provedRunSchema,
    p1: provedRunSchema,
    b2: provedRunSchema,
    p2: provedRunSchema,
  }),
  /** Tests that had to fail on the patched tree and were seen failing there. */
  canary: z.array(z.string()).min(1),
  /** Whether all four runs were confined. */
  sandboxed: z.boolean(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  product_version: z.string(),
})
export type ReceiptBody = z.infer<typeof receiptBodySchema>

/** Ed25519 over the canonical JSON of `body`; `key_id` names the public key. */
export const receiptSchema = z.strictObject({
  body: receiptBodySchema,
  key_id: z.string(),
  signature: z.base64(),
})
export type Receipt = z.infer<typeof receiptSchema>
