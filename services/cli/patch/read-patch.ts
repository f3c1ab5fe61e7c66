import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../../shared/errors.ts'
import { runFiles, savePatch } from '../../../shared/run-files.ts'
import { readManifest } from '../../../shared/workspace.ts'
import { readBytes } from '../read-text.ts'
import { patchFromDiff, textOf } from './patch-from-diff.ts'
import { type FileDiff, readDiff } from './read-diff.ts'

const MAX_BYTES = 50_000_000

/** Reads a unified diff from a file, `-`: from stdin. Throws UsageError when there is none in it. */
export async function readPatchFile(path: string, interrupted: AbortSignal): Promise<FileDiff[]> {
  const name = path === '-' ? 'stdin' : path
  const text = textOf(await readBytes(path, { maxBytes: MAX_BYTES, interrupted }))
  if (text === null) {
    throw new UsageError(`${name} is not UTF-8 text: only text files can be proved`)
  }
  const diffs = readDiff(text)
  if (diffs.length > 0) return diffs
  throw new UsageError(`there is no patch in ${name}`, {
    hint: 'it must be a unified diff, such as `git diff` writes; new files show after `git add -N .`',
  })
}

/** Keeps what a diff makes of a run's snapshot as a patch of that run, and returns its hash. */
export async function keepPatch(
  home: string,
  runId: string,
  diffs: FileDiff[],
): Promise<{ patch: string; modes: string[] }> {
  const files = runFiles(home, runId)
  const manifest = await readManifest(files)
  const { patch, modes } = await patchFromDiff(diffs, {
    paths: new Set(manifest.files.map((file) => file.path)),
    read: (path) => readFile(join(files.base, path)),
  })
  if (patch.files.length > 0) return { patch: await savePatch(files, patch), modes }
  const why = modes.length > 0 ? ` but the modes of ${modes.join(', ')}` : ''
  throw new UsageError(`the patch changes nothing${why}`, {
    hint: 'a proof is of changed contents',
  })
}
