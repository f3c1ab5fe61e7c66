import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Brings a folder with all that is in it to the disk: it is there after a power failure too. */
export async function flushTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await flushTree(path)
    else await flush(path)
  }
  await flush(folder)
}

/** A new name is lost in a power failure until its folder itself is on the disk. */
export async function flush(path: string): Promise<void> {
  const opened = await open(path, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
