import { z } from 'zod'
import { sha256, sha256Schema } from './ids.ts'
import type { Patch } from './patch.ts'

/** What a snapshot holds. `links` are dependency folders that are used where the user has them. */
export const manifestSchema = z.strictObject({
  workspace: z.string(),
  /** Missing in snapshots of earlier versions. */
  repository_id: z.string().nullable().optional(),
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

/** The hash of a base's tree with a patch applied: what is new has the usual mode. */
export function patchedTreeHash(base: Pick<Manifest, 'files'>, patch: Patch): string {
  const files = new Map(base.files.map((file) => [file.path, file]))
  for (const { path, after } of patch.files) {
    const mode = files.get(path)?.mode ?? 0o644
    if (after === null) files.delete(path)
    else files.set(path, { path, sha256: sha256(after), mode })
  }
  return treeHash({ files: [...files.values()] })
}
