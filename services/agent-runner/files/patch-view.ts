import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { type Patch, patchHash } from '../../../shared/contracts/patch.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import { findSnapshot } from '../../../shared/run-snapshot.ts'
import { readText } from './text-file.ts'

/** The patch without what it changes in protected files: the proof left that out too. */
export function withoutDropped(patch: Patch, dropped: readonly string[]): Patch {
  return { files: patch.files.filter((file) => !dropped.includes(file.path)) }
}

/** A patch as a unified diff against the base, and its hash; nulls for an empty patch. */
export async function describePatch(
  files: RunFiles,
  patch: Patch,
): Promise<{ diff: string | null; hash: string | null }> {
  if (patch.files.length === 0) return { diff: null, hash: null }
  const { base } = await findSnapshot(files)
  const parts = await Promise.all(
    patch.files.map(async ({ path, before, after }) => {
      const old = before === null ? '' : await readText(base, path)
      return createTwoFilesPatch(`a/${path}`, `b/${path}`, old, after ?? '', undefined, undefined, {
        headerOptions: FILE_HEADERS_ONLY,
      })
    }),
  )
  return { diff: parts.join(''), hash: patchHash(patch) }
}
