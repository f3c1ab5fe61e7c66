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

/** The patch's own name: SHA-256 over its files in path order. */
export function patchHash(patch: Patch): string {
  const files = [...patch.files].sort((a, b) => (a.path < b.path ? -1 : 1))
  return sha256(JSON.stringify(files.map((f) => [f.path, f.before, f.after])))
}
