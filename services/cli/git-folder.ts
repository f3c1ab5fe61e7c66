import { lstat, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** A git repository, by its files alone: running git in a foreign folder runs what that folder says. */
export type GitFolder = {
  /** The folder that holds `.git`. */
  root: string
  /** Where `config` and `info/exclude` are; shared by the worktrees of one repository. */
  commonDir: string
}

/** The repository that `start` (a real path) lies in, or null. */
export async function findGitFolder(start: string): Promise<GitFolder | null> {
  for (let folder = start; ; folder = dirname(folder)) {
    const commonDir = await gitDirOf(folder)
    if (commonDir) return { root: folder, commonDir }
    if (dirname(folder) === folder) return null
  }
}

async function gitDirOf(folder: string): Promise<string | null> {
  const path = join(folder, '.git')
  const stats = await lstat(path).catch(() => null)
  if (stats?.isDirectory()) return path
  if (!stats?.isFile()) return null
  // Worktrees and submodules have a file that names the real folder.
  const target = /^gitdir: (.+)$/m.exec(await textOr(path, ''))?.[1]?.trim()
  if (!target) return null
  const gitDir = resolve(folder, target)
  const common = (await textOr(join(gitDir, 'commondir'), '.')).trim()
  return resolve(gitDir, common)
}

async function textOr(path: string, fallback: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => fallback)
}
