import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { inFolder, readRegularFile } from '../../shared/confined-folder.ts'
import { removeLeftovers, temporaryName } from './apply-leftovers.ts'

/** What is at a path of the workspace; null for nothing. */
export type Current = { bytes: Buffer; mode: number } | null

/** No file of a snapshot is larger than a part of this. */
const MAX_BYTES = 100_000_000

/** `other`: something that is no regular file, or behind a link, which leads elsewhere. */
export async function readCurrent(
  workspace: string,
  parts: readonly string[],
): Promise<Current | 'other'> {
  try {
    const file = await readRegularFile(workspace, parts, MAX_BYTES)
    return file.kind === 'file' ? file : 'other'
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    if (['ELOOP', 'ENOTDIR', 'ENXIO', 'ENAMETOOLONG'].includes(code)) return 'other'
    throw error
  }
}

/** Writes a new content to a file of its own in the same folder and returns its name. */
export async function writeBeside(
  workspace: string,
  parts: readonly string[],
  content: { data: string | Buffer; mode: number },
  options: { create: boolean },
): Promise<string> {
  const temporary = temporaryName(parts.at(-1) ?? '')
  await inFolder(
    workspace,
    parts.slice(0, -1),
    async (folder) => {
      // `wx` takes no name that is there, not even a link.
      const file = await open(join(folder, temporary), 'wx')
      try {
        await file.writeFile(content.data)
        await file.chmod(content.mode)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    options,
  )
  return temporary
}

/**
 * Puts the content that waits in `temporary` in the place of the file, or removes the file. Throws
 * when the file is not `expected` any more: it was changed since it was looked at.
 */
export async function replaceFile(
  workspace: string,
  parts: readonly string[],
  expected: Current,
  temporary: string | null,
): Promise<void> {
  const now = await readCurrent(workspace, parts)
  if (now === 'other' || !isSame(now, expected)) {
    throw new Error(`${parts.join('/')} was changed while the patch was applied`)
  }
  await inFolder(workspace, parts.slice(0, -1), async (folder) => {
    const target = join(folder, parts.at(-1) ?? '')
    if (temporary === null) await rm(target, { force: true })
    else await rename(join(folder, temporary), target)
  })
}

export async function putBack(
  workspace: string,
  parts: readonly string[],
  before: Current,
): Promise<void> {
  const content = before && { data: before.bytes, mode: before.mode }
  const temporary = content && (await writeBeside(workspace, parts, content, { create: true }))
  await inFolder(workspace, parts.slice(0, -1), async (folder) => {
    const target = join(folder, parts.at(-1) ?? '')
    if (temporary === null) await rm(target, { force: true })
    else await rename(join(folder, temporary), target)
  })
}

/** Removes what a call that was killed left beside the file. */
export async function tidyBeside(workspace: string, parts: readonly string[]): Promise<void> {
  try {
    await inFolder(workspace, parts.slice(0, -1), (folder) =>
      removeLeftovers(folder, parts.at(-1) ?? ''),
    )
  } catch (error) {
    // No such folder, then nothing is left in it either.
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String((error as NodeJS.ErrnoException).code))) {
      throw error
    }
  }
}

const isSame = (a: Current, b: Current) =>
  a === null || b === null ? a === b : a.bytes.equals(b.bytes)
