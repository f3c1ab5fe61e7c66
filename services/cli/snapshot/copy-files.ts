import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type RegularFile, readRegularFile } from '../../../shared/confined-folder.ts'
import { sha256 } from '../../../shared/contracts/ids.ts'
import type { Manifest } from '../../../shared/contracts/manifest.ts'
import { UsageError } from '../../../shared/errors.ts'
import type { LeftOut } from './list-workspace.ts'

/** Bytes, and a number of files. */
export type SnapshotLimits = { fileBytes: number; totalBytes: number; files: number }

type Copied = { files: Manifest['files']; leftOut: LeftOut[] }

/**
 * Copies files of the workspace to `base`. What was listed may have become anything since: no link is
 * followed, and what cannot be read as a regular file is left out and named. Throws UsageError above
 * a limit.
 */
export async function copyFiles(
  workspace: string,
  paths: string[],
  base: string,
  limits: SnapshotLimits,
): Promise<Copied> {
  const copied: Copied = { files: [], leftOut: [] }
  let total = 0
  for (const path of paths) {
    const file = await readListed(workspace, path, limits.fileBytes)
    if (typeof file === 'string') {
      copied.leftOut.push({ path, why: file })
      continue
    }
    total += file.bytes.length
    if (total > limits.totalBytes) {
      throw new UsageError(`the workspace holds more than ${megabytes(limits.totalBytes)}`, {
        hint: 'name a smaller folder, or list large data in .gitignore',
      })
    }
    // Always readable and writable by us, or nothing could be done with the copy.
    const mode = file.mode | 0o600
    const target = join(base, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, file.bytes, { flag: 'wx' })
    await chmod(target, mode)
    copied.files.push({ path, sha256: sha256(file.bytes), mode })
  }
  return copied
}

async function readListed(
  workspace: string,
  path: string,
  maxBytes: number,
): Promise<Extract<RegularFile, { kind: 'file' }> | LeftOut['why']> {
  let file: RegularFile
  try {
    file = await readRegularFile(workspace, path.split('/'), maxBytes)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['EACCES', 'EPERM'].includes(code)) return 'not readable'
    if (['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes(code)) return 'changed while it was read'
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`, {
      hint: 'make it readable, or list it in .gitignore',
      cause: error,
    })
  }
  if (file.kind === 'file') return file
  if (file.kind === 'no_regular_file') return 'changed while it was read'
  throw new UsageError(`${path} is larger than ${megabytes(maxBytes)}`, {
    hint: 'list large files in .gitignore',
  })
}

const megabytes = (bytes: number) => `${bytes / 1_000_000} MB`
