import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Removes a folder with everything in it, also folders that tests took the write permission from. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    await remove()
  } catch {
    await makeWritable(folder)
    await remove()
  }
}

/** The first removal may still be at work elsewhere in the tree: what it took meanwhile is no loss. */
async function makeWritable(folder: string): Promise<void> {
  try {
    await chmod(folder, 0o700)
    const entries = await readdir(folder, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory())
    await Promise.all(folders.map((entry) => makeWritable(join(folder, entry.name))))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
