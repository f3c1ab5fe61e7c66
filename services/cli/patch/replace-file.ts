import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { inFolder, readRegularFile } from '../../../shared/confined-folder.ts'
import { temporaryName } from './apply-leftovers.ts'

/** What is at a path of the workspace; null for nothing. */
export type Current = ({ bytes: Buffer } & Attributes) | null

/** What a new content takes over from the file that it replaces. */
type Attributes = { mode: number; uid: number; gid: number }

const NEW_FILE_MODE = 0o644

/** No file of a snapshot is larger than a part of this. */
const MAX_BYTES = 100_000_000

/** `other`: something that is no regular file, cannot be read, or is behind a link. */
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
    if (['ELOOP', 'ENOTDIR', 'ENXIO', 'ENAMETOOLONG', 'EACCES'].includes(code)) return 'other'
    throw error
  }
}

/** Writes a new content to a file of its own in the same folder and returns its name. */
export async function writeBeside(
  workspace: string,
  parts: readonly string[],
  data: string | Buffer,
  { like, create }: { like: Attributes | null; create: boolean },
): Promise<string> {
  const temporary = temporaryName(parts.at(-1) ?? '')
  await inFolder(
    workspace,
    parts.slice(0, -1),
    async (folder) => {
      // `wx` takes no name that is there, not even a link.
      const file = await open(join(folder, temporary), 'wx')
      try {
        await file.writeFile(data)
        if (like) await keepOwner(file, like)
        await file.chmod(like?.mode ?? NEW_FILE_MODE)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    { create },
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
  expected: Buffer | null,
  temporary: string | null,
): Promise<void> {
  const now = await readCurrent(workspace, parts)
  const same = now === null ? expected === null : now !== 'other' && expected?.equals(now.bytes)
  if (!same) throw new Error(`${parts.join('/')} was changed while the patch was applied`)
  await inFolder(workspace, parts.slice(0, -1), async (folder) => {
    const target = join(folder, parts.at(-1) ?? '')
    if (temporary === null) await rm(target, { force: true })
    else await rename(join(folder, temporary), target)
  })
}

/** Undoes a replacement. Throws when the file is not `written` any more: then it is somebody's edit. */
export async function putBack(
  workspace: string,
  parts: readonly string[],
  written: Buffer | null,
  before: Current,
): Promise<void> {
  const options = { like: before, create: true }
  const temporary = before && (await writeBeside(workspace, parts, before.bytes, options))
  await replaceFile(workspace, parts, written, temporary)
}

/** Root in a container writes into a folder of the person's: the file stays theirs. */
async function keepOwner(file: FileHandle, { uid, gid }: Attributes): Promise<void> {
  if (process.getuid?.() === 0) await file.chown(uid, gid)
}
