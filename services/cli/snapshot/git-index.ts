import { createHash } from 'node:crypto'

/** The paths in an index, relative to the repository's root; or why they cannot be told from it. */
export type GitIndex = { ok: true; paths: string[] } | { ok: false; why: string }

class Unreadable extends Error {}

const STAT_BYTES = 40
const EXTENDED = 0x4000
const FOLDER = 0o040000
/** Names share their beginnings in version 4: a small file could stand for any amount of memory. */
const MAX_NAME_BYTES = 4096
const MAX_ALL_NAMES = 64_000_000

/**
 * Reads the bytes of a git index file, versions 2 to 4. A split index (the rest is in another file)
 * and a sparse one (whole folders stand for their files) are not followed. Throws for nothing: the
 * file is the workspace's, so it may be anything.
 */
export function parseGitIndex(bytes: Buffer): GitIndex {
  try {
    return { ok: true, paths: readIndex(bytes) }
  } catch (error) {
    // Reading past the end is a RangeError of Buffer.
    if (error instanceof Unreadable) return { ok: false, why: error.message }
    if (error instanceof RangeError) return { ok: false, why: 'it is cut off' }
    throw error
  }
}

function readIndex(bytes: Buffer): string[] {
  if (bytes.toString('latin1', 0, 4) !== 'DIRC') throw new Unreadable('it is no index')
  const version = bytes.readUInt32BE(4)
  if (version < 2 || version > 4) throw new Unreadable(`its version is ${version}`)
  const hashBytes = hashLength(bytes)
  const body = bytes.subarray(0, bytes.length - hashBytes)
  const count = body.readUInt32BE(8)
  const paths: string[] = []
  let at = 12
  let total = 0
  let name: Buffer = Buffer.alloc(0)
  for (let i = 0; i < count; i += 1) {
    const entry = readEntry(body, at, { version, hashBytes, previous: name })
    if (entry.mode === FOLDER) throw new Unreadable('it is sparse')
    name = entry.name
    at = entry.end
    total += name.length
    if (name.length > MAX_NAME_BYTES || total > MAX_ALL_NAMES) {
      throw new Unreadable('its names are too long')
    }
    paths.push(name.toString('utf8'))
  }
  checkExtensions(body, at)
  return paths
}

/** SHA-1 or SHA-256, whichever the checksum at the end is of; git may also leave it zero. */
function hashLength(bytes: Buffer): number {
  for (const [algorithm, length] of [['sha1', 20] as const, ['sha256', 32] as const]) {
    const end = bytes.length - length
    if (end < 12) continue
    const sum = createHash(algorithm).update(bytes.subarray(0, end)).digest()
    if (sum.equals(bytes.subarray(end))) return length
  }
  if (bytes.length >= 32 && bytes.subarray(-20).every((byte) => byte === 0)) return 20
  throw new Unreadable('its checksum does not fit')
}

type Layout = { version: number; hashBytes: number; previous: Buffer }

function readEntry(body: Buffer, start: number, layout: Layout) {
  const mode = body.readUInt32BE(start + 24)
  const flagsAt = start + STAT_BYTES + layout.hashBytes
  const extended = (body.readUInt16BE(flagsAt) & EXTENDED) !== 0
  if (extended && layout.version < 3) throw new Unreadable('an entry has flags of another version')
  const nameAt = flagsAt + (extended ? 4 : 2)
  if (layout.version === 4) return { mode, ...compressedName(body, nameAt, layout.previous) }
  const nul = endOfName(body, nameAt)
  // One to eight NULs, so that the next entry begins at a multiple of eight from this one.
  const end = start + Math.floor((nul - start + 8) / 8) * 8
  return { mode, name: body.subarray(nameAt, nul), end }
}

/** Version 4: how many bytes of the previous name go, then what comes in their place. */
function compressedName(body: Buffer, start: number, previous: Buffer) {
  let at = start
  let byte = body.readUInt8(at)
  let removed = byte & 0x7f
  while (byte & 0x80) {
    at += 1
    byte = body.readUInt8(at)
    removed = (removed + 1) * 128 + (byte & 0x7f)
    if (removed > previous.length) break
  }
  if (removed > previous.length) throw new Unreadable('a name is shortened below nothing')
  const nul = endOfName(body, at + 1)
  const kept = previous.subarray(0, previous.length - removed)
  return { name: Buffer.concat([kept, body.subarray(at + 1, nul)]), end: nul + 1 }
}

function endOfName(body: Buffer, start: number): number {
  const nul = body.indexOf(0, start)
  if (nul < 0) throw new Unreadable('it is cut off')
  return nul
}

/** Extensions in capitals can be passed over; the others change what the entries mean. */
function checkExtensions(body: Buffer, start: number): void {
  for (let at = start; at < body.length; at += 8 + body.readUInt32BE(at + 4)) {
    const signature = body.toString('latin1', at, at + 4)
    if (signature === 'link') throw new Unreadable('it is split into two files')
    if (signature === 'sdir') throw new Unreadable('it is sparse')
    if (!/^[A-Z]/.test(signature)) throw new Unreadable(`it needs the extension ${signature}`)
  }
}
