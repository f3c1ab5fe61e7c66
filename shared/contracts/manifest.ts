import { z } from 'zod'
import { sha256, sha256Schema } from './ids.ts'

/** What a snapshot holds. `links` are dependency folders that are used where the user has them. */
export const manifestSchema = z.strictObject({
  workspace: z.string(),
  files: z.array(
    z.strictObject({ path: z.string(), sha256: sha256Schema, mode: z.number().int() }),
  ),
  links: z.array(z.strictObject({ path: z.string(), target: z.string() })),
})
export type Manifest = z.infer<typeof manifestSchema>

/** The hash of a tree: paths, contents and modes, in path order. */
export function treeHash(manifest: Pick<Manifest, 'files'>): string {
  const files = [...manifest.files].sort((a, b) => (a.path < b.path ? -1 : 1))
  return sha256(JSON.stringify(files.map((f) => [f.path, f.sha256, f.mode])))
}
