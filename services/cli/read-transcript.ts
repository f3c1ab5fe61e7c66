import { z } from 'zod'
import type { Blobs } from '../../shared/blobs/blobs.ts'
import { receiptSchema } from '../../shared/contracts/receipt.ts'
import { loadTranscript, runFiles } from '../../shared/run-files.ts'

const lineSchema = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('request'),
    n: z.number(),
    previous_response_id: z.string().nullable(),
  }),
  z.looseObject({
    type: z.literal('response'),
    n: z.number(),
    output: z.array(z.looseObject({ type: z.string(), name: z.string().optional() })),
  }),
  z.looseObject({
    type: z.literal('output'),
    tool: z.string(),
    output: z.string(),
    /** The number of the request that delivered it. */
    request: z.number(),
  }),
  z.looseObject({
    type: z.literal('verification'),
    /** Only a confirmed patch has one. */
    receipt: receiptSchema.optional(),
  }),
])
export type TranscriptLine = z.infer<typeof lineSchema>

const told = ['request', 'response', 'output', 'verification']

/** What was asked, answered, delivered and verified in a run, in order. Throws when there is no transcript. */
export async function readTranscript(
  home: string,
  runId: string,
  blobs: Blobs | null = null,
): Promise<TranscriptLine[]> {
  const text = await loadTranscript(runFiles(home, runId, blobs))
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter((line) => told.includes(line.type))
    .map((line) => lineSchema.parse(line))
}
