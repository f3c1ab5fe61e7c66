import { constants, existsSync } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Linux can open a name below an open folder; elsewhere the name is opened by its whole path. */
const descriptorFolder = existsSync('/proc/self/fd') ? '/proc/self/fd' : null

/**
 * Walks from `root` through the folders `names`, one at a time and following no link, and calls `use`
 * with a path prefix below which a name is that folder's own: whatever is swapped meanwhile, no
 * operation on one name below it leaves `root`. Throws the system's error for a part that is missing,
 * a link or no folder.
 */
export async function inFolder<T>(
  root: string,
  names: readonly string[],
  use: (folder: string) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  let handle = await openFolder(root)
  try {
    let folder = prefixOf(handle, root)
    for (const name of names) {
      const path = join(folder, name)
      if (options.create) await makeFolder(path)
      const inner = await openFolder(path)
      await handle.close()
      handle = inner
      folder = prefixOf(handle, path)
    }
    return await use(folder)
  } finally {
    await handle.close()
  }
}

const openFolder = (path: string) => open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

const prefixOf = (handle: FileHandle, path: string) =>
  descriptorFolder ? `${descriptorFolder}/${handle.fd}` : path

async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

/** What is behind a name, when it could be opened. */
export type RegularFile =
  | { kind: 'file'; bytes: Buffer; mode: number; uid: number; gid: number }
  | { kind: 'too_large'; size: number }
  | { kind: 'no_regular_file' }

/**
 * Reads a regular file below `root`, at most `maxBytes` of it. Throws the system's error when it
 * cannot be opened: ENOENT, ELOOP or ENOTDIR for links, EACCES.
 */
export async function readRegularFile(
  root: string,
  parts: readonly string[],
  maxBytes: number,
): Promise<RegularFile> {
  return inFolder(root, parts.slice(0, -1), async (folder) => {
    // Not to hang on a FIFO: the type is looked at after opening, on the descriptor.
    const name = join(folder, parts.at(-1) ?? '')
    const handle = await open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const stats = await handle.stat()
      if (!stats.isFile()) return { kind: 'no_regular_file' }
      if (stats.size > maxBytes) return { kind: 'too_large', size: stats.size }
      const bytes = await readAll(handle, stats.size, maxBytes)
      if (bytes.length > maxBytes) return { kind: 'too_large', size: bytes.length }
      return { kind: 'file', bytes, mode: stats.mode & 0o777, uid: stats.uid, gid: stats.gid }
    } finally {
      await handle.close()
    }
  })
}

/** Not more than one byte above `maxBytes`, however much the file grows meanwhile. */
async function readAll(handle: FileHandle, size: number, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let total = 0
  for (let next = size + 1; total <= maxBytes; next = 65_536) {
    const buffer = Buffer.allocUnsafe(Math.min(next, maxBytes + 1 - total))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length)
    if (bytesRead === 0) break
    chunks.push(buffer.subarray(0, bytesRead))
    total += bytesRead
  }
  return Buffer.concat(chunks, total)
}
