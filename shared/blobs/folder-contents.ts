import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UnavailableError } from '../errors.ts'
import { type ContentPlace, inBatches, packed, unpacked } from './content.ts'

/** How many files are read or written at once. */
const AT_ONCE = { items: 16, bytes: 64_000_000 }

/** A file that another account owns keeps its age; one that is this old is written again. */
const RENEWED_MS = 24 * 3600 * 1000

/**
 * Contents in a folder that all machines of the fleet see, compressed, each written under another name
 * first. The folder itself has to be there: one that is not mounted must not be made.
 */
export function folderContents(folder: string): ContentPlace {
  const pathOf = (sha256: string) => join(folder, 'blobs', sha256.slice(0, 2), sha256)
  const isMounted = () => requireFolder(folder)
  return {
    async missing(hashes) {
      await isMounted()
      const missing = new Set<string>()
      for (const batch of inBatches(hashes, () => 0, AT_ONCE)) {
        const kept = await Promise.all(batch.map((hash) => renew(pathOf(hash))))
        for (const [index, hash] of batch.entries()) if (!kept[index]) missing.add(hash)
      }
      return missing
    },
    async put(contents) {
      await isMounted()
      for (const batch of inBatches(contents, ({ bytes }) => bytes.length, AT_ONCE)) {
        await Promise.all(
          batch.map(async ({ sha256, bytes }) => write(pathOf(sha256), await packed(bytes))),
        )
      }
    },
    async get(names) {
      await isMounted()
      const contents: (Uint8Array | null)[] = []
      for (const batch of inBatches(names, ({ size }) => size, AT_ONCE)) {
        const read = batch.map(async (name) => {
          const path = pathOf(name.sha256)
          const value = await readFile(path).catch(unlessMissing)
          if (value === null) return null
          const content = await unpacked(value, name)
          // What is damaged would keep its right content away for ever.
          if (content) await renew(path)
          else await rm(path, { force: true })
          return content
        })
        contents.push(...(await Promise.all(read)))
      }
      return contents
    },
  }
}

async function requireFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => null)
  if (stats?.isDirectory()) return
  throw new UnavailableError(`ASTRA_SHARED_DIR ${folder} is no folder on this machine`, {
    hint: 'mount it here, at any path, and set ASTRA_SHARED_DIR to that',
  })
}

/** True when the file is there and will stay for its whole time. */
async function renew(path: string): Promise<boolean> {
  const now = new Date()
  try {
    await utimes(path, now, now)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') {
      unlessMissing(error)
      return false
    }
    return now.getTime() - (await stat(path)).mtimeMs < RENEWED_MS
  }
}

async function write(path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`
  await writeFile(temporary, bytes, { flag: 'wx' })
  await rename(temporary, path)
}

function unlessMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
