import { z } from 'zod'
import { sha256, sha256Schema } from './ids.ts'

/**
 * A patch is whole file contents, not hunks: it applies exactly or not at all. `before` is the
 * hash of the base file (null: the file is new), `after` the new text (null: deleted).
 */
export const patchSchema = z.strictObject({
  files: z.array(
    z.strictObject({
      path: z.string(),
      before: sha256Schema.nullable(),
      after: z.string().nullable(),
    }),
  ),
})
export type Patch = z.infer<typeof patchSchema>

/** A patch in the one form that it is named by: its files in path order. */
export function patchText(patch: Patch): string {
  const files = [...patch.files].sort((a, b) => (a.path < b.path ? -1 : 1))
  return JSON.stringify(files.map((f) => [f.path, f.before, f.after]))
}

/** The patch's own name: SHA-256 over its text. */
export const patchHash = (patch: Patch): string => sha256(patchText(patch))

const textSchema = z.array(z.tuple([z.string(), sha256Schema.nullable(), z.string().nullable()]))

/** The patch of a text that `patchText` made. */
export function patchFromText(text: string): Patch {
  const files = textSchema.parse(JSON.parse(text))
  return { files: files.map(([path, before, after]) => ({ path, before, after })) }
}
