import { sha256 } from '../../../shared/contracts/ids.ts'
import type { Patch } from '../../../shared/contracts/patch.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import { findManifest } from '../../../shared/run-snapshot.ts'
import { readCurrent } from './replace-file.ts'

/**
 * Files of the snapshot that the patch does not touch and that are no longer as they were. New files
 * do not count: tests and editors leave some behind.
 */
export async function changedBesides(
  files: RunFiles,
  workspace: string,
  patch: Patch,
): Promise<string[]> {
  const touched = new Set(patch.files.map((file) => file.path))
  const changed: string[] = []
  for (const file of (await findManifest(files)).files) {
    if (touched.has(file.path)) continue
    const current = await readCurrent(workspace, file.path.split('/'))
    const same = current !== null && current !== 'other' && sha256(current.bytes) === file.sha256
    if (!same) changed.push(file.path)
  }
  return changed
}
