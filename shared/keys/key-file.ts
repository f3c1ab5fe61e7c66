import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { AstraError, errorText } from '../errors.ts'

/** A key file is damaged or cannot be read; it was left as it is, and no key was put in its place. */
export class KeyFileError extends AstraError {
  constructor(message: string, options: { hint: string; cause: unknown }) {
    super('key_file', message, options)
  }
}

/** The text of a key file; null when there is none. Throws KeyFileError when it cannot be read. */
export function readKeyFile(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return null
    throw new KeyFileError(`the key file ${file} cannot be read: ${errorText(cause)}`, {
      hint: 'it must be a file that belongs to the user who runs Astra, with mode 0600',
      cause,
    })
  }
}

/**
 * Writes a key file (0600, its folder 0700) so that it is there as a whole or not at all, also
 * after a power failure. `first`: leaves a file that is there and returns false.
 */
export function writeKeyFile(file: string, data: string, how: 'replace' | 'first'): boolean {
  const folder = dirname(file)
  const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(temporary, data, { mode: 0o600, flag: 'wx', flush: true })
    if (how === 'replace') renameSync(temporary, file)
    else linkSync(temporary, file)
    flushFolder(folder)
    return true
  } catch (cause) {
    if (how === 'first' && hasCode(cause, 'EEXIST')) return false
    throw new KeyFileError(`the key file ${file} cannot be written: ${errorText(cause)}`, {
      hint: 'its folder must belong to the user who runs Astra, and the disk must have room',
      cause,
    })
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** A rename is lost in a power failure until the folder itself is on the disk. */
function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
