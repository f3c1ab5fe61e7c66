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

/** What the test-runner saw by itself, before it is signed. */
export const receiptBodySchema = z.strictObject({
  version: z.literal(1),
  run_id: runIdSchema,
  mode: z.literal('A'),
  scope: z.literal('complete'),
  runner: runnerSchema,
  command: z.string(),
  outcome: outcomeLineSchema,
  base_tree: sha256Schema,
  patch: sha256Schema,
  targets: z.array(z.string()).min(1),
  passed_before: z.number().int(),
  passed_after: z.number().int(),
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
