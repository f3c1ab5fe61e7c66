import { z } from 'zod'
import { receiptSchema, runnerSchema } from './receipt.ts'

const count = z.number().int().nonnegative()
const text = (max: number) => z.string().trim().min(1).max(max)

/** The language of a workspace, by its test runner. */
export const languageSchema = z.enum(['python', 'javascript', 'typescript', 'go', 'rust'])

/** What the model says of its fix: the fields of `store_fix_memory`. */
export const fixClaimSchema = z.strictObject({
  fix_description: text(4000),
  error_type: text(200),
  file_paths: z.array(text(500)).min(1).max(50),
  outcome: text(200),
})
export type FixClaim = z.infer<typeof fixClaimSchema>

/** What the system saw by itself of the failure and of its repair. */
export const fixEvidenceSchema = z.strictObject({
  symptom_raw: z.string().max(16_000),
  symptom: z.string().max(16_000),
  diff: z.string().max(64_000),
  language: languageSchema.nullable(),
  framework: runnerSchema.nullable(),
  repository_id: z.string().max(200).nullable(),
  failing_tests: z.array(z.string()).max(200),
  model: z.string().max(100),
})
export type FixEvidence = z.infer<typeof fixEvidenceSchema>

/** How many secrets a rule took out of a record's texts. */
export const scrubbedSchema = z.strictObject({ rule: z.string(), count })

/** One confirmed fix, as the store keeps it. `receipt: null` means unproved: labelled, never trusted. */
export const memoryRecordSchema = z.strictObject({
  memory_id: z.uuid(),
  ...fixClaimSchema.shape,
  timestamp: z.iso.datetime({ offset: true, error: 'timestamp must be ISO 8601 with a time zone' }),
  session_id: text(200),
  ...fixEvidenceSchema.shape,
  receipt: receiptSchema.nullable(),
  /** Who may share it besides its repository; null: nobody named a group. */
  group: z.string().max(200).nullable().default(null),
  /** The near-duplicates that it stands for. */
  merged: z.array(z.uuid()).default([]),
  /** What was taken out of its texts before it was stored. */
  scrubbed: z.array(scrubbedSchema).default([]),
  /** How often it was shown, and how runs that were shown it ended: with a confirmed fix or not. */
  shown: count,
  confirmed: count.default(0),
  unconfirmed: count.default(0),
  superseded_by: z.uuid().nullable(),
  revoked_at: z.iso.datetime().nullable(),
})
export type MemoryRecord = z.infer<typeof memoryRecordSchema>

/** The files that a diff changed, and the names in the lines that it took out or put in. */
const touchedSchema = z.strictObject({
  files: z.array(z.string()),
  identifiers: z.array(z.string()),
})
export type Touched = z.infer<typeof touchedSchema>

/**
 * One answer of a search. `score` is the cosine of the better of the two vectors. What an earlier
 * version answered has no relevance: it counts as similar.
 */
export const memoryMatchSchema = z.strictObject({
  memory_id: z.uuid(),
  score: z.number(),
  relevance: z.enum(['same', 'similar']).default('similar'),
  /** That the fix is right for the failure asked about, 0 to 1. */
  probability: z.number().min(0).max(1).default(0),
  speaks_for: z.array(z.string()).default([]),
  speaks_against: z.array(z.string()).default([]),
  proved: z.boolean(),
  /** What its diff touched, where it is of the asker's own repository; null for all others. */
  touched: touchedSchema.nullable().default(null),
  /** Why it may not fit the asker's files any more. Only who has those files can say so. */
  stale: z.string().nullable().default(null),
  ...fixClaimSchema.shape,
  timestamp: z.string(),
  session_id: z.string(),
})
export type MemoryMatch = z.infer<typeof memoryMatchSchema>
