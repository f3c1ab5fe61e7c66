import { existsSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { sha256 } from '../../../shared/contracts/ids.ts'
import { type Patch, patchHash } from '../../../shared/contracts/patch.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import { materialise, readManifest } from '../../../shared/workspace.ts'
import type { Journal } from '../journal/journal.ts'
import { readText } from './text-file.ts'

/** Makes the tree that the model edits, once. Dependencies are not part of it: tests run elsewhere. */
export async function ensureWorkTree(files: RunFiles): Promise<void> {
  if (existsSync(files.work)) return
  const manifest = await readManifest(files)
  const partial = `${files.work}.partial`
  await rm(partial, { recursive: true, force: true })
  await materialise(files, { ...manifest, links: [] }, partial)
  await rename(partial, files.work)
}

/** What the work tree changes against the base; only paths that the journal knows were edited. */
export async function currentPatch(files: RunFiles, journal: Journal): Promise<Patch> {
  const paths = [...new Set([...journal.edits.values()].map((edit) => edit.path))].sort()
  const changed = await Promise.all(
    paths.map(async (path) => {
      const before = sha256(await readFile(join(files.base, path)))
      const after = await readText(files.work, path)
      return { path, before, after }
    }),
  )
  return { files: changed.filter((file) => sha256(file.after) !== file.before) }
}

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
  const parts = await Promise.all(
    patch.files.map(async ({ path, before, after }) => {
      const old = before === null ? '' : await readFile(join(files.base, path), 'utf8')
      return createTwoFilesPatch(`a/${path}`, `b/${path}`, old, after ?? '', undefined, undefined, {
        headerOptions: FILE_HEADERS_ONLY,
      })
    }),
  )
  return { diff: parts.join(''), hash: patchHash(patch) }
}
