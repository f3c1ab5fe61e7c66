import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { runFiles } from '../../shared/run-files.ts'

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
  z.looseObject({ type: z.literal('verification') }),
  z.looseObject({ type: z.literal('end') }),
])
export type TranscriptLine = z.infer<typeof lineSchema>

/** The lines of a run's transcript, in order. Throws when it is missing or has an unknown line. */
export async function readTranscript(home: string, runId: string): Promise<TranscriptLine[]> {
  const text = await readFile(runFiles(home, runId).transcript, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => lineSchema.parse(JSON.parse(line)))
}
