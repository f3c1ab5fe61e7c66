import { z } from 'zod'
import { storePayloadSchema } from './memory.ts'
import { memoryRecordSchema } from './record.ts'
import { encodedVectorSchema } from './vector.ts'

const vectorsSchema = z.strictObject({ symptom: encodedVectorSchema, fix: encodedVectorSchema })

/** A store that was accepted while the store was away, scrubbed, with the vectors of its child. */
export const storeLaterPayloadSchema = z.strictObject({
  store: storePayloadSchema,
  vectors: z.array(encodedVectorSchema),
})

/** A record as it is moved from one store to another; its vectors can be made anew from its texts. */
export const transferredSchema = z.strictObject({
  ...memoryRecordSchema.shape,
  vectors: vectorsSchema.optional(),
})
export type Transferred = z.infer<typeof transferredSchema>

/** A walk through all records takes several jobs: `after` is where one left off. */
export const exportPayloadSchema = z.strictObject({
  after: z.string().max(200).nullable(),
  vectors: z.boolean(),
})
export const exportResultSchema = z.strictObject({
  records: z.array(transferredSchema),
  /** Ids of those that cannot be read. */
  unreadable: z.array(z.string()),
  /** Where the next job goes on; null at the end. */
  next: z.string().nullable(),
})
export type ExportResult = z.infer<typeof exportResultSchema>

/** As many as one embed job has texts for. */
export const IMPORT_RECORDS = 16
/** What one job carries is kept by Redis for a day, beside other jobs. */
export const TRANSFER_BYTES = 64_000

export const importPayloadSchema = z.strictObject({
  records: z.array(transferredSchema).min(1).max(IMPORT_RECORDS),
})
/** One for each record, in their order. */
export const importResultSchema = z.strictObject({
  outcomes: z.array(
    z.discriminatedUnion('status', [
      z.strictObject({ status: z.literal('imported'), proved: z.boolean() }),
      /** It was there, and stays as it was. */
      z.strictObject({ status: z.literal('present') }),
      /** It is not there, and came without vectors in a job that makes none. */
      z.strictObject({ status: z.literal('needs_vectors') }),
      z.strictObject({ status: z.literal('refused'), message: z.string() }),
    ]),
  ),
})
export type ImportOutcome = z.infer<typeof importResultSchema>['outcomes'][number]
