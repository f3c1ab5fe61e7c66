import { z } from 'zod'
import { sha256Schema } from '../contracts/ids.ts'
import { KEY_PREFIX } from '../queue/connection.ts'
import type { Blobs } from './blobs.ts'
import { KEPT_SECONDS } from './content.ts'
import { treeRefSchema } from './tree.ts'

/** What machines that have not taken a run's snapshot are told of it. */
const publishedRunSchema = z.strictObject({
  workspace: z.string(),
  /** Of the machine on which its dependencies were installed. */
  platform: z.string(),
  repository_id: z.string().nullable(),
  /** The hash that receipts have of the base: `treeHash`. */
  base_tree: sha256Schema,
  base: treeRefSchema,
  /** Packages beside the workspace that its tests use, and that do not travel. */
  outside: z.array(z.string()),
  /** In the order of the manifest's links. */
  dependencies: z.array(
    z.strictObject({
      path: z.string(),
      target: z.string(),
      /** Null: it did not travel. */
      tree: treeRefSchema.nullable(),
      /** Of all its files together. */
      bytes: z.number().int().nonnegative(),
      /** What could have travelled, in bytes. */
      limit: z.number().int().nonnegative(),
    }),
  ),
})
export type PublishedRun = z.infer<typeof publishedRunSchema>

/** Packages are installed for one of these. */
export const PLATFORM = `${process.platform}-${process.arch}`

const runKey = (runId: string) => `${KEY_PREFIX}:run:${runId}:snapshot`
const transcriptKey = (runId: string) => `${KEY_PREFIX}:run:${runId}:transcript`

/** Names a run's snapshot to all machines. False when another run of that id was there before. */
export async function announceRun(
  { redis }: Blobs,
  runId: string,
  run: PublishedRun,
): Promise<boolean> {
  const text = JSON.stringify(run)
  if ((await redis.set(runKey(runId), text, 'EX', KEPT_SECONDS, 'NX')) === 'OK') return true
  return (await redis.get(runKey(runId))) === text
}

/** What was announced of a run, or null. It stays for its whole time again. */
export async function findPublishedRun(
  { redis }: Blobs,
  runId: string,
): Promise<PublishedRun | null> {
  const text = await redis.getex(runKey(runId), 'EX', KEPT_SECONDS)
  return text === null ? null : publishedRunSchema.parse(JSON.parse(text))
}

/** A run that nobody can look at any more, such as one that was made for a verification. */
export async function forgetRun({ redis }: Blobs, runId: string): Promise<void> {
  await redis.del(runKey(runId))
}

/** The transcript is named by its run: it is written again when an ending is repeated. */
export async function announceTranscript(
  { redis }: Blobs,
  runId: string,
  transcript: { sha256: string; size: number },
): Promise<void> {
  await redis.set(transcriptKey(runId), JSON.stringify(transcript), 'EX', KEPT_SECONDS)
}

const transcriptSchema = z.strictObject({ sha256: sha256Schema, size: z.number().int() })

export async function findTranscript({ redis }: Blobs, runId: string) {
  const text = await redis.getex(transcriptKey(runId), 'EX', KEPT_SECONDS)
  return text === null ? null : transcriptSchema.parse(JSON.parse(text))
}
