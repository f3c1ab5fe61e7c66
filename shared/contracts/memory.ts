import { z } from 'zod'
import { receiptSchema } from './receipt.ts'
import {
  fixClaimSchema,
  fixEvidenceSchema,
  memoryMatchSchema,
  memoryRecordSchema,
  scrubbedSchema,
} from './record.ts'

/**
 * Sessions of `astra smoke`, which tries the path from the queue to the disk: theirs are the only
 * records that are stored without a receipt, and they stay labelled as unproved. No run may have
 * such a name.
 */
export const SMOKE_SESSION_PREFIX = 'smoke-'

/**
 * The vectors come from the job's `embed` child, not from the payload: the query's, and for a run
 * that of its observed symptom besides. A symptom is nearer to symptoms than words about it are.
 */
export const searchPayloadSchema = z.strictObject({
  query: z.string().trim().min(1).max(20_000),
  error_type: z.string().nullable(),
  top_k: z.number().int().min(1).max(10),
  /** The run's observed symptom, normalised: its words count beside those of the query. */
  symptom: z.string().max(20_000).optional(),
  /** Who asks: decides what a memory that does not share across repositories may answer. */
  repository_id: z.string().max(200).optional(),
  /** For a person who looks: says also of the nearest that are no answer why, and counts nothing. */
  explain: z.boolean().optional(),
})

/** A record that was compared and is no answer. */
const noMatchSchema = memoryMatchSchema
  .pick({
    memory_id: true,
    fix_description: true,
    error_type: true,
    score: true,
    probability: true,
    speaks_for: true,
    speaks_against: true,
    proved: true,
  })
  .extend({
    /** That it has to do with the failure at all, 0 to 1. */
    kinship: z.number().min(0).max(1),
    why: z.discriminatedUnion('reason', [
      z.strictObject({ reason: z.literal('unlikely'), threshold: z.number() }),
      /** It is an answer, and there are `top_k` better ones. */
      z.strictObject({ reason: z.literal('beyond_top_k') }),
    ]),
  })
export type NoMatch = z.infer<typeof noMatchSchema>

export const searchResultSchema = z.strictObject({
  matches: z.array(memoryMatchSchema),
  /** `dropped`: nothing was found with the error type, this is a second look without it. */
  error_type_filter: z.enum(['none', 'kept', 'dropped']).default('none'),
  /** How many live records the search could choose from. */
  searched: z.number().int(),
  /** Why nothing may be answered to whoever asked; null when the search was made. */
  withheld: z.string().nullable().default(null),
  /** With `explain`: the nearest that are no answer, best first. */
  no_matches: z.array(noMatchSchema).optional(),
})
export type SearchResult = z.infer<typeof searchResultSchema>

/** The vectors of symptom and fix, in that order, come from the job's `embed` child. */
export const storePayloadSchema = z.strictObject({
  claim: fixClaimSchema,
  evidence: fixEvidenceSchema,
  session_id: z.string(),
  confirmed_at: z.iso.datetime({ offset: true, error: 'must be ISO 8601 with a time zone' }),
  receipt: receiptSchema.nullable(),
  /** What was taken out of these texts before they were sent; the store adds what it finds. */
  scrubbed: z.array(scrubbedSchema).optional(),
})
export type StorePayload = z.infer<typeof storePayloadSchema>

/** Why a record counts as unproved: no receipt of a trusted key is about exactly what it says. */
export const unprovedReasonSchema = z.enum([
  'no_receipt',
  'untrusted_key',
  'altered_receipt',
  'altered_record',
  'unreadable_record',
  'other_run',
  'other_outcome',
  'other_runner',
  'other_repository',
  'other_tests',
])
export type UnprovedReason = z.infer<typeof unprovedReasonSchema>

const proofProblemSchema = z.strictObject({ reason: unprovedReasonSchema, message: z.string() })
export type ProofProblem = z.infer<typeof proofProblemSchema>

/** A refusal is a value: the model can act on it. */
export const storeResultSchema = z.discriminatedUnion('stored', [
  z.strictObject({
    stored: z.literal(true),
    memory_id: z.uuid(),
    /** The store was away: it is accepted, and written when the store is back. */
    waiting: z.literal(true).optional(),
  }),
  z.strictObject({ stored: z.literal(false), error: z.string(), message: z.string() }),
])
export type StoreResult = z.infer<typeof storeResultSchema>

export const getPayloadSchema = z.strictObject({ memory_id: z.string() })
export const getResultSchema = z.strictObject({
  record: memoryRecordSchema.nullable(),
  /** Null for a proved record, and when there is none. */
  unproved: proofProblemSchema.nullable(),
  expired: z.boolean(),
  /** Ids of the records that name it as their successor, whether it is there itself or not. */
  stands_for: z.array(z.string()).default([]),
})

/** Whether searches answer with a record, and if not, why; the first of these that holds. */
export const memoryStateSchema = z.enum(['revoked', 'superseded', 'expired', 'live'])
export type MemoryState = z.infer<typeof memoryStateSchema>

/** What fields a record must have; what is not given is not asked for. */
const filterShape = {
  /** Compared as searches compare it. */
  error_type: z.string().max(200).optional(),
  repository_id: z.string().max(200).optional(),
}

export const listPayloadSchema = z.strictObject({
  limit: z.number().int().min(1).max(500),
  offset: z.number().int().nonnegative(),
  session_id: z.string().nullable(),
  ...filterShape,
  state: memoryStateSchema.optional(),
})
export const listResultSchema = z.strictObject({
  records: z.array(
    memoryRecordSchema
      .pick({
        memory_id: true,
        fix_description: true,
        error_type: true,
        file_paths: true,
        outcome: true,
        timestamp: true,
        session_id: true,
        revoked_at: true,
        superseded_by: true,
        confirmed: true,
        unconfirmed: true,
      })
      .extend({
        proved: z.boolean(),
        expired: z.boolean(),
        repository_id: z.string().nullable().default(null),
        shown: z.number().int().nonnegative().default(0),
      }),
  ),
  total: z.number().int(),
})
export type ListedMemory = z.infer<typeof listResultSchema>['records'][number]

export const deletePayloadSchema = z.strictObject({ memory_id: z.string() })
export const deleteResultSchema = z.strictObject({
  deleted: z.boolean(),
  /** What it stood for: these records stand for themselves again. */
  brought_back: z.array(z.string()).default([]),
})

/** A walk through all records takes several jobs, each of them short: `after` is where one left off. */
export const verifyPayloadSchema = z.strictObject({
  after: z.string().max(200).nullable(),
  /** How many unproved records to name; all are counted. */
  named: z.number().int().min(0).max(1000),
  /** Only records with these fields are counted and named. */
  session_id: z.string().max(200).optional(),
  ...filterShape,
})
export const verifyResultSchema = z.strictObject({
  proved: z.number().int(),
  unproved: z.partialRecord(unprovedReasonSchema, z.number().int()),
  named: z.array(
    z.strictObject({ memory_id: z.string(), session_id: z.string(), ...proofProblemSchema.shape }),
  ),
  /** Where the next job goes on; null at the end. */
  next: z.string().nullable(),
})
export type VerifyResult = z.infer<typeof verifyResultSchema>
