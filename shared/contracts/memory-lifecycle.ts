import { z } from 'zod'
import { runIdSchema } from './ids.ts'

const count = z.number().int().nonnegative()
const name = z.string().trim().min(1).max(200)

/** Which records: one, all that a session stored, or all of a repository. */
export const revocableSchema = z.union([
  z.strictObject({ memory_id: name }),
  z.strictObject({ session_id: name }),
  z.strictObject({ repository_id: name }),
])

export const revokePayloadSchema = z.strictObject({ which: revocableSchema })
export const revokeResultSchema = z.strictObject({
  /** How many records these are. */
  found: count,
  /** How many were not revoked before. */
  changed: count,
  /** Older records that these stand for. They stay out of searches too. */
  stands_for: z.array(z.string()),
})
export type RevokeResult = z.infer<typeof revokeResultSchema>

export const restorePayloadSchema = z.strictObject({ which: revocableSchema })
export const restoreResultSchema = z.strictObject({
  found: count,
  /** How many were revoked before. */
  changed: count,
  /** Those of them that stay out of searches, because another record stands for them. */
  superseded: z.array(z.string()),
})
export type RestoreResult = z.infer<typeof restoreResultSchema>

export const supersedePayloadSchema = z.strictObject({
  memory_id: name,
  /** The record that stands for it from now on; null: it stands for itself again. */
  by: name.nullable(),
})
export const supersedeResultSchema = z.discriminatedUnion('done', [
  z.strictObject({
    done: z.literal(true),
    /** False when it was so already. */
    changed: z.boolean(),
  }),
  z.strictObject({
    done: z.literal(false),
    reason: z.enum(['no_such_record', 'no_such_successor', 'successor_not_live', 'circle']),
    message: z.string(),
  }),
])
export type SupersedeResult = z.infer<typeof supersedeResultSchema>

/** How a run ended that was shown these records. Counted once for each run and record. */
export const noteOutcomePayloadSchema = z.strictObject({
  run_id: runIdSchema,
  memory_ids: z.array(z.string()),
  outcome: z.enum(['confirmed', 'unconfirmed']),
})
