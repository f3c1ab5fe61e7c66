import { constants, existsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'

/** A path that may not be used, in words that the model can act on. */
export class PathRefused extends Error {}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Linux can open a name below an open folder; elsewhere the name is opened by its whole path. */
const descriptorFolder = existsSync('/proc/self/fd') ? '/proc/self/fd' : null

const SECRETS = [
  /^\.env(\..*)?$/i,
  /^\.(npmrc|netrc|pypirc|pgpass)$/i,
  /\.(pem|key|p12|pfx)$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)/i,
  /^credentials(\.json)?$/i,
]

/** The parts of a relative path. Throws PathRefused for one that could lead outside or to a secret. */
export function pathParts(path: string): string[] {
  if (path.includes('\0')) throw new PathRefused('a path may not hold a NUL character')
  if (path.startsWith('/') || path.includes('\\')) {
    throw new PathRefused(`give the path relative to the root of the project, with "/": ${path}`)
  }
  const parts = path.split('/')
  for (const part of parts) {
    if (part === '' || part === '.' || part === '..') {
      throw new PathRefused(`a path may not have empty parts, "." or "..": ${path}`)
    }
    if (part.toLowerCase() === '.git')
      throw new PathRefused('the .git folder is not part of the project')
    if (isSecretName(part)) throw new PathRefused(`${path} may hold secrets and cannot be used`)
  }
  return parts
}

export function isSecretName(name: string): boolean {
  return SECRETS.some((pattern) => pattern.test(name))
}

/**
 * Walks to the folder of `parts` one name at a time, following no link, and calls `use` with a path
 * prefix through which the last name is reached: whatever is swapped meanwhile, the walk stays below
 * `root`. Throws PathRefused when a part is missing, a link or no folder.
 */
export async function inFolderOf<T>(
  root: string,
  parts: string[],
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const opened: FileHandle[] = []
  try {
    let folder = root
    for (const part of ['', ...parts.slice(0, -1)]) {
      const path = part === '' ? root : join(folder, part)
      const handle = await openOrRefuse(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, parts.join('/'))
      opened.push(handle)
      folder = descriptorFolder ? `${descriptorFolder}/${handle.fd}` : path
    }
    return await use(folder)
  } finally {
    await Promise.all(opened.map((handle) => handle.close()))
  }
}

/** Opens a regular file below `root` for reading. The caller closes it. */
export async function openConfined(root: string, path: string): Promise<FileHandle> {
  const parts = pathParts(path)
  return inFolderOf(root, parts, async (folder) => {
    const name = join(folder, parts.at(-1) ?? '')
    // Not to hang on a FIFO: the type is looked at after opening, on the descriptor.
    const handle = await openOrRefuse(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, path)
    if ((await handle.stat()).isFile()) return handle
    await handle.close()
    throw new PathRefused(`${path} is not a regular file`)
  })
}

async function openOrRefuse(path: string, flags: number, shown: string): Promise<FileHandle> {
  try {
    return await open(path, flags)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOENT') throw new PathRefused(`there is no file ${shown}`, { cause: error })
    if (code === 'ELOOP') throw new PathRefused(`${shown} leads through a link`, { cause: error })
    if (code === 'ENOTDIR' || code === 'ENXIO' || code === 'ENAMETOOLONG') {
      throw new PathRefused(`${shown} cannot be opened as a file`, { cause: error })
    }
    throw error
  }
}
