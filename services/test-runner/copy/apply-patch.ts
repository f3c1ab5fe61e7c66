import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256 } from '../../../shared/contracts/ids.ts'
import type { Patch } from '../../../shared/contracts/patch.ts'

/**
 * Applies a patch to a fresh copy of its base, in which no code has run yet. Throws when a path
 * leaves the copy or a file is not what the patch was made from.
 */
export async function applyPatch(root: string, patch: Patch): Promise<void> {
  for (const file of patch.files) {
    const target = await confined(root, file.path)
    const present = await readFile(target).catch(() => null)
    const before = present === null ? null : sha256(present)
    if (before !== file.before) throw new Error(`the patch does not fit ${file.path}`)
    if (file.after === null) {
      await rm(target, { force: true })
    } else {
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, file.after)
    }
  }
}

/** Dependency folders hold links to the person's own: nothing may be written through one. */
async function confined(root: string, path: string): Promise<string> {
  const parts = path.split('/')
  const bad = path.includes('\0') || parts.some((part) => part === '' || /^\.{1,2}$/.test(part))
  if (bad) throw new Error(`the patch has a path that leaves the workspace: ${path}`)
  let place = root
  for (const part of parts) {
    place = join(place, part)
    const found = await lstat(place).catch(() => null)
    if (found?.isSymbolicLink()) throw new Error(`the patch writes through a link: ${path}`)
  }
  return place
}
