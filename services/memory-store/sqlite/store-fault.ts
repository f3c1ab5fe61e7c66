import { UnavailableError } from '../../../shared/errors.ts'
import { MemoryDatabaseError } from '../database-error.ts'

/** Primary result codes of SQLite that are about its file and not about our statements. */
const PERM = 3
const BUSY = 5
const LOCKED = 6
const NOMEM = 7
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const PROTOCOL = 15
const NOTADB = 26

/** What to do when the file cannot be used now, as text for a person. */
const ADVICE: ReadonlyMap<number, string> = new Map([
  [PERM, 'look at the rights of its folder'],
  [BUSY, 'another process holds its lock'],
  [LOCKED, 'another process holds its lock'],
  [NOMEM, 'the machine has no memory left'],
  [READONLY, 'make it, its folder and its disk writable'],
  [IOERR, 'look at its disk: room and faults'],
  [FULL, 'make room on its disk'],
  [CANTOPEN, 'look at its folder: rights, room, and whether its disk is there'],
  [PROTOCOL, 'look at its folder: its lock files cannot be used'],
])

/** What the system says of the folder or the file. */
const SYSTEM = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE'])

export type StoreFault = {
  error: UnavailableError | MemoryDatabaseError
  /** The connection may not get well when the file does: a new one is needed. */
  reopen: boolean
}

/**
 * What an error means for the jobs of the store, or null when it is not about the file. A disk that is
 * full, read-only or gone is a store that is away, as a server can be: what was written stays, and
 * what is to be written waits.
 */
export function storeFault(error: unknown, file: string): StoreFault | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // Extended codes say more in the bits above.
    const code = 'errcode' in cause ? Number(cause.errcode) & 0xff : null
    if (code === CORRUPT || code === NOTADB) {
      const text = `${file} is damaged: ${cause.message}; put a backup in its place`
      return { error: new MemoryDatabaseError(text, { cause }), reopen: true }
    }
    const isOfSystem = 'code' in cause && SYSTEM.has(String(cause.code))
    const advice = isOfSystem ? 'look at its folder: rights and room' : ADVICE.get(code ?? 0)
    if (advice === undefined) continue
    // In the message: of a failed job nothing else reaches whoever asked.
    const text = `${file} cannot be used: ${cause.message}; ${advice}`
    return {
      error: new UnavailableError(text, { cause }),
      reopen: code !== FULL && code !== BUSY,
    }
  }
  return null
}
