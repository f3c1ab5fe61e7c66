import { sha256 } from '../contracts/ids.ts'
import type { Blobs } from './blobs.ts'
import { type Content, inBatches } from './content.ts'
import type { Tree, TreeRef } from './tree.ts'

/** A folder as it was listed: what its files hold is not known yet. */
export type ListedTree = Pick<Tree, 'links' | 'folders'> & {
  files: { path: string; mode: number; size: number }[]
  /** The contents of one file; null when it is gone meanwhile. */
  read(path: string): Promise<Uint8Array | null>
}

const AT_ONCE = { items: 128, bytes: 8_000_000 }

export const bytesOf = ({ files }: Pick<ListedTree, 'files'>) =>
  files.reduce((sum, { size }) => sum + size, 0)

/**
 * Puts a folder where other machines find it, and of that only what is not there yet. Null when it is
 * too large to go anywhere. Repeating it is harmless.
 */
export async function publishTree(blobs: Blobs, listed: ListedTree): Promise<TreeRef | null> {
  const place = blobs.placeFor(bytesOf(listed))
  if (place === null) return null
  const contents = blobs.in(place)
  const files: Tree['files'] = []
  for (const batch of inBatches(listed.files, ({ size }) => size, AT_ONCE)) {
    const found = new Map<string, Content>()
    const read = await Promise.all(batch.map(({ path }) => listed.read(path)))
    for (const [index, { path, mode }] of batch.entries()) {
      const bytes = read[index]
      if (!bytes) continue
      const content = { sha256: sha256(bytes), bytes }
      found.set(content.sha256, content)
      files.push({ path, sha256: content.sha256, mode, size: bytes.length })
    }
    const missing = await contents.missing([...found.keys()])
    await contents.put([...found.values()].filter((content) => missing.has(content.sha256)))
  }
  const { links, folders } = listed
  const bytes = new TextEncoder().encode(JSON.stringify({ files, links, folders } satisfies Tree))
  const tree = { sha256: sha256(bytes), bytes }
  // After all that it names.
  if ((await contents.missing([tree.sha256])).size > 0) await contents.put([tree])
  return { sha256: tree.sha256, size: bytes.length, bytes: bytesOf({ files }), place }
}
