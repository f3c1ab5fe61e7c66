import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readSettingsFile } from './settings-file.ts'

/** A git repository, by its files alone: running git in a foreign folder runs what that folder says. */
export type GitFolder = {
  /** The folder that holds `.git`. */
  root: string
  /** Where `index` is; each worktree has its own. */
  gitDir: string
  /** Where `config` and `info/exclude` are; shared by the worktrees of one repository. */
  commonDir: string
}

/** The repository that `start` (a real path) lies in, or null. */
export async function findGitFolder(start: string): Promise<GitFolder | null> {
  for (let folder = start; ; folder = dirname(folder)) {
    const found = await gitFolderAt(folder)
    if (found) return found
    if (dirname(folder) === folder) return null
  }
}

async function gitFolderAt(root: string): Promise<GitFolder | null> {
  const path = join(root, '.git')
  const stats = await lstat(path).catch(() => null)
  if (stats?.isDirectory()) return { root, gitDir: path, commonDir: path }
  if (!stats?.isFile()) return null
  // Worktrees and submodules have a file that names the real folder.
  const target = /^gitdir: (.+)$/m.exec((await readSettingsFile(root, '.git')) ?? '')?.[1]?.trim()
  if (!target) return null
  const named = resolve(root, target)
  const gitDir = await realpath(named).catch(() => named)
  const common = ((await readSettingsFile(gitDir, 'commondir')) ?? '.').trim()
  return { root, gitDir, commonDir: resolve(gitDir, common) }
}
