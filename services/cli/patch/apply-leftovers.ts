import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { inFolder } from '../../../shared/confined-folder.ts'

const LEFTOVER = /^(.+)\.[0-9a-f]{8}\.astra-tmp$/
/** A name may have 255 bytes, and a sign four of them. */
const shortened = (name: string) => name.slice(0, 50).toWellFormed()

/** The name under which a new content waits beside the file that it will replace. */
export const temporaryName = (name: string) =>
  `${shortened(name)}.${randomBytes(4).toString('hex')}.astra-tmp`

/** Whether a killed apply left this behind: it is no file of the project. */
export const isLeftover = (name: string) => LEFTOVER.test(name)

/** Removes what a call that was killed left beside the files of these paths. */
export async function removeLeftovers(workspace: string, paths: string[][]): Promise<void> {
  const folders = Map.groupBy(paths, (parts) => parts.slice(0, -1).join('/'))
  for (const [folder, files] of folders) {
    const names = new Set(files.map((parts) => shortened(parts.at(-1) ?? '')))
    await tidyFolder(workspace, folder === '' ? [] : folder.split('/'), names)
  }
}

async function tidyFolder(
  workspace: string,
  parts: string[],
  names: ReadonlySet<string>,
): Promise<void> {
  try {
    await inFolder(workspace, parts, async (folder) => {
      for (const name of await readdir(folder)) {
        if (names.has(LEFTOVER.exec(name)?.[1] ?? '')) await rm(join(folder, name), { force: true })
      }
    })
  } catch (error) {
    // No such folder, then nothing is left in it either.
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) throw error
  }
}
