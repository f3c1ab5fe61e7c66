import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Adds files to a fresh copy. Throws when one is there: nothing of the workspace is replaced. */
export async function writeExtraFiles(
  root: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const target = join(root, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, text, { flag: 'wx' })
  }
}
