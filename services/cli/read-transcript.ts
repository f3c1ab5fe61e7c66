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
])
export type TranscriptLine = z.infer<typeof lineSchema>

/** What was asked, answered and delivered in a run, in order. Throws when there is no transcript. */
export async function readTranscript(home: string, runId: string): Promise<TranscriptLine[]> {
  const text = await readFile(runFiles(home, runId).transcript, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter((line) => ['request', 'response', 'output'].includes(line.type))
    .map((line) => lineSchema.parse(line))
}
