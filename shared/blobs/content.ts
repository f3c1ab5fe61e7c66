import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { sha256 } from '../contracts/ids.ts'

/** What some bytes are asked for by: their hash, and how many there are. */
export type ContentName = { sha256: string; size: number }

/** Bytes under the hash that they were found to have. */
export type Content = { sha256: string; bytes: Uint8Array }

/** Where contents are kept for the machines of a fleet. All may be repeated. */
export type ContentPlace = {
  /** Those that are not kept here. The life of all others begins anew. */
  missing(hashes: readonly string[]): Promise<Set<string>>
  put(contents: readonly Content[]): Promise<void>
  /** In the order asked for; null for what is not kept, or was damaged and has been removed. */
  get(names: readonly ContentName[]): Promise<(Uint8Array | null)[]>
}

/** How long contents are kept after their last use: as long as the run's own keys in Redis. */
export const KEPT_SECONDS = 30 * 24 * 3600

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

export const packed = (bytes: Uint8Array): Promise<Buffer> => compress(bytes)

/** The bytes that were packed, or null when they are not what they are named by. */
export async function unpacked(bytes: Uint8Array, name: ContentName): Promise<Buffer | null> {
  try {
    // A few bytes may stand for many: no more is unpacked than was said.
    const content = await decompress(bytes, { maxOutputLength: Math.max(1, name.size) })
    return sha256(content) === name.sha256 ? content : null
  } catch {
    return null
  }
}

/** Cuts a list into parts that are sent or written at once. */
export function* inBatches<T>(
  items: Iterable<T>,
  sizeOf: (item: T) => number,
  most: { items: number; bytes: number },
): Generator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for (const item of items) {
    const size = sizeOf(item)
    if (batch.length > 0 && (batch.length >= most.items || bytes + size > most.bytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(item)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
