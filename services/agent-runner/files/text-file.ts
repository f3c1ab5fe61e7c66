import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { inFolderOf, openConfined, PathRefused, pathParts } from './confined.ts'

/** The largest file that is read or edited, in bytes. */
export const MAX_FILE_BYTES = 512 * 1024

/** The text of a file, a byte order mark included. Throws PathRefused for what is not UTF-8 text. */
export async function readText(root: string, path: string): Promise<string> {
  const handle = await openConfined(root, path)
  try {
    const { size } = await handle.stat()
    if (size > MAX_FILE_BYTES) {
      throw new PathRefused(`${path} has ${size} bytes; at most ${MAX_FILE_BYTES} can be read`)
    }
    return decode(await handle.readFile(), path)
  } finally {
    await handle.close()
  }
}

function decode(bytes: Buffer, path: string): string {
  if (bytes.includes(0)) throw new PathRefused(`${path} is a binary file`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new PathRefused(`${path} is not UTF-8 text`, { cause: error })
  }
}

/** Replaces a file as a whole, keeping its mode: a reader sees the old text or the new. */
export async function writeText(root: string, path: string, text: string): Promise<void> {
  const parts = pathParts(path)
  await inFolderOf(root, parts, async (folder) => {
    const target = join(folder, parts.at(-1) ?? '')
    const temporary = join(folder, `.astra-${randomBytes(6).toString('hex')}.tmp`)
    const current = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW)
    const { mode } = await current.stat()
    await current.close()
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    const handle = await open(temporary, flags, mode & 0o777)
    try {
      await handle.writeFile(text)
      await handle.chmod(mode & 0o777)
      await handle.sync()
      await handle.close()
      await rename(temporary, target)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  })
}
