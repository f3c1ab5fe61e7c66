import { z } from 'zod'
import { runIdSchema, sha256Schema } from './ids.ts'
import { outcomeLineSchema, receiptSchema, runnerSchema } from './receipt.ts'
import { languageSchema } from './record.ts'

/** Why a workspace's tests could not give a verdict. A value, not a fault. */
export const unusableReasonSchema = z.enum([
  'no_tests_found',
  'runner_missing',
  'tests_timed_out',
  'tests_output_limit',
  'tests_memory_limit',
  'no_sandbox',
  'dependencies_missing',
  'tests_unreadable',
])

const unusable = z.strictObject({
  kind: z.literal('unusable'),
  reason: unusableReasonSchema,
  message: z.string(),
  output: z.string(),
})
export type UnusableTests = z.infer<typeof unusable>

const counted = {
  command: z.string(),
  runner: runnerSchema,
  passed: z.number().int(),
  failed: z.number().int(),
  /** Capped and free of ANSI; the end of the output, where the failures stand. */
  output: z.string(),
}

/** What failed, as the system saw it by itself: this is what a memory is searched by. */
export const symptomSchema = z.strictObject({
  raw: z.string(),
  normalised: z.string(),
  error_type: z.string(),
  language: languageSchema,
  failing: z.array(z.string()),
})
export type Symptom = z.infer<typeof symptomSchema>

export const baselineResultSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('green'), commands: z.array(z.string()), ...counted }),
  z.strictObject({
    kind: z.literal('red'),
    commands: z.array(z.string()),
    symptom: symptomSchema,
    ...counted,
  }),
  unusable,
])
export type BaselineResult = z.infer<typeof baselineResultSchema>

/** Why a green run was not taken as proof. */
export const unprovedReasonSchema = z.enum([
  'no_patch',
  'target_missing',
  'target_not_passing',
  'only_flaky',
  'canary',
  'regression',
  'tests_red',
  'unprovable_runner',
  'tests_unusable',
])

/** Tests that differed between two runs of the same tree; journals of before had none. */
const flaky = z.array(z.string()).default([])

/** The verdict on a patch: fresh copy of the base, the patch on it, protected files as they were. */
export const verificationSchema = z.discriminatedUnion('confirmed', [
  z.strictObject({
    confirmed: z.literal(true),
    command: z.string(),
    outcome: outcomeLineSchema,
    failing_before: z.array(z.string()),
    passing_after: z.array(z.string()),
    flaky,
    dropped_paths: z.array(z.string()),
    receipt: receiptSchema,
  }),
  z.strictObject({
    confirmed: z.literal(false),
    command: z.string(),
    reason: unprovedReasonSchema,
    message: z.string(),
    failing_before: z.array(z.string()),
    passing_after: z.array(z.string()),
    flaky,
    dropped_paths: z.array(z.string()),
  }),
])
export type Verification = z.infer<typeof verificationSchema>

export const testRunResultSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('green'), verification: verificationSchema, ...counted }),
  z.strictObject({ kind: z.literal('red'), symptom: symptomSchema, ...counted }),
  unusable,
])
export type TestRunResult = z.infer<typeof testRunResultSchema>

const testEnvironment = {
  run_id: runIdSchema,
  /** PATH of the person who asked, without what npm adds: their toolchain runs their tests. */
  path_env: z.string(),
}

export const baselinePayloadSchema = z.strictObject({
  ...testEnvironment,
  /** null: the first command that the workspace offers. */
  command: z.string().nullable(),
})
export const testRunPayloadSchema = z.strictObject({
  ...testEnvironment,
  command: z.string(),
  /** Names a file below the run's `patches` folder; null: nothing was edited. */
  patch: sha256Schema.nullable(),
})
export const verifyPayloadSchema = testRunPayloadSchema.extend({
  /** null: the first command that the workspace offers. */
  command: z.string().nullable(),
  /** All test runs are made again: no saved baseline counts. */
  fresh: z.boolean().optional(),
})
