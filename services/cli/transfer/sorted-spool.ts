import { mkdtemp, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Lines on the disk that come back in the order of their keys: a memory may be larger than ours. */
export type SortedSpool = {
  /** A later line of the same key takes the place of the earlier. */
  add(key: string, line: string): Promise<void>
  size(): number
  lines(): AsyncGenerator<string>
  remove(): Promise<void>
}

export async function openSortedSpool(parent: string): Promise<SortedSpool> {
  const folder = await mkdtemp(join(parent, 'export-'))
  const file = await open(join(folder, 'lines'), 'wx+', 0o600)
  const places = new Map<string, { at: number; length: number }>()
  let end = 0
  return {
    async add(key, line) {
      const bytes = Buffer.from(line)
      await file.write(bytes, 0, bytes.length, end)
      places.set(key, { at: end, length: bytes.length })
      end += bytes.length
    },
    size: () => places.size,
    async *lines() {
      for (const key of [...places.keys()].sort()) {
        const { at, length } = places.get(key) ?? { at: 0, length: 0 }
        const { buffer } = await file.read(Buffer.alloc(length), 0, length, at)
        yield `${buffer.toString('utf8')}\n`
      }
    },
    async remove() {
      await file.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
