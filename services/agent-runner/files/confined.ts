import { type RegularFile, readRegularFile } from '../../../shared/confined-folder.ts'
import { isSecretPath } from '../../../shared/secret-names.ts'

/** A path that may not be used, in words that the model can act on. */
export class PathRefused extends Error {}

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
  }
  if (isSecretPath(path)) throw new PathRefused(`${path} may hold secrets and cannot be used`)
  return parts
}

/** Whether the path may be shown at all. */
export function isUsablePath(path: string): boolean {
  try {
    pathParts(path)
    return true
  } catch (error) {
    if (error instanceof PathRefused) return false
    throw error
  }
}

/** Reads a regular file below `root`, through no link. Throws PathRefused. */
export async function readConfined(
  root: string,
  path: string,
  maxBytes: number,
): Promise<RegularFile> {
  const parts = pathParts(path)
  try {
    return await readRegularFile(root, parts, maxBytes)
  } catch (error) {
    throw refusal(error, path) ?? error
  }
}

function refusal(error: unknown, path: string): PathRefused | null {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  if (code === 'ENOENT') return new PathRefused(`there is no file ${path}`, { cause: error })
  if (code === 'ELOOP') return new PathRefused(`${path} leads through a link`, { cause: error })
  if (['ENOTDIR', 'ENXIO', 'ENAMETOOLONG', 'EACCES'].includes(String(code))) {
    return new PathRefused(`${path} cannot be opened as a file`, { cause: error })
  }
  return null
}
