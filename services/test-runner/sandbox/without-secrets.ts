import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isSecretFolder, isSecretPath } from '../../../shared/secret-names.ts'
import { isSystemPath, isTooWide } from '../toolchains/toolchain.ts'

/**
 * Folders with sources that tests import from beside the workspace: the whole folder, or, where git
 * or secrets stand in it, all that is beside them. What is too wide to be shown is left out.
 */
export async function withoutSecrets(
  folders: readonly string[],
  guarded: readonly string[],
): Promise<string[]> {
  return (await Promise.all(folders.map((folder) => shownOf(folder, guarded)))).flat()
}

async function shownOf(folder: string, guarded: readonly string[]): Promise<string[]> {
  if (isSystemPath(folder) || (await isTooWide(folder, guarded))) return []
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  if (!entries.some((entry) => isPrivate(entry.name))) return [folder]
  // A link by itself would be shown as what it leads to.
  const shown = entries.filter(
    (entry) => !isPrivate(entry.name) && (entry.isFile() || entry.isDirectory()),
  )
  return shown.map((entry) => join(folder, entry.name))
}

const isPrivate = (name: string) => name === '.git' || isSecretFolder(name) || isSecretPath(name)
