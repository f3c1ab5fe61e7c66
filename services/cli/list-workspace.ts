import type { Dirent } from 'node:fs'
import { access, readdir, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { UsageError } from '../../shared/errors.ts'
import type { GitFolder } from './git-folder.ts'
import { type IgnoreRules, isIgnored, rulesAbove, withIgnoreFile } from './ignore-rules.ts'
import { type IncludeGlobs, readIncludeGlobs } from './include-globs.ts'
import { isSecretFile } from './secret-files.ts'

export type WorkspaceList = {
  /** Paths relative to the workspace, sorted within each folder. */
  files: string[]
  links: { path: string; target: string }[]
  /** What a person may miss; what git ignores is not named. */
  leftOut: { path: string; why: 'link' | 'secret' | 'not a regular file' }[]
}

type Walk = {
  workspace: string
  /** Our own data folder: it may lie inside the workspace. */
  home: string
  include: IncludeGlobs
  maxFiles: number
  list: WorkspaceList
}

/** What a snapshot of `workspace` (a real path) is made of. Throws UsageError above `maxFiles`. */
export async function listWorkspace(
  workspace: string,
  git: GitFolder | null,
  options: { home: string; maxFiles: number },
): Promise<WorkspaceList> {
  const list: WorkspaceList = { files: [], links: [], leftOut: [] }
  const include = await readIncludeGlobs(workspace)
  const home = await realpath(options.home).catch(() => options.home)
  const walk = { workspace, home, include, maxFiles: options.maxFiles, list }
  await walkFolder(walk, workspace, await rulesAbove(workspace, git))
  return list
}

/** `rules: null` stands for an ignored folder, in which only what is included is taken. */
async function walkFolder(walk: Walk, folder: string, rules: IgnoreRules | null): Promise<void> {
  const inside = rules && (await withIgnoreFile(rules, folder))
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    await visit(walk, entry, inside)
  }
}

async function visit(walk: Walk, entry: Dirent, rules: IgnoreRules | null): Promise<void> {
  const absolute = join(entry.parentPath, entry.name)
  const path = relative(walk.workspace, absolute)
  if (entry.name.toLowerCase() === '.git' || absolute === walk.home) return
  if (await isDependencyFolder(absolute, entry)) {
    walk.list.links.push({ path, target: await realpath(absolute) })
    return
  }
  const ignored = rules === null || isIgnored(rules, absolute, entry.isDirectory())
  if (entry.isDirectory()) {
    if (!ignored || walk.include.reaches(path)) {
      await walkFolder(walk, absolute, ignored ? null : rules)
    }
    return
  }
  if (ignored && !walk.include.matches(path)) return
  takeFile(walk, entry, path)
}

function takeFile({ list, maxFiles }: Walk, entry: Dirent, path: string): void {
  if (entry.isSymbolicLink()) list.leftOut.push({ path, why: 'link' })
  else if (!entry.isFile()) list.leftOut.push({ path, why: 'not a regular file' })
  else if (isSecretFile(path)) list.leftOut.push({ path, why: 'secret' })
  else list.files.push(path)
  if (list.files.length > maxFiles) {
    throw new UsageError(`the workspace has more than ${maxFiles} files`, {
      hint: 'name a smaller folder, or list what is generated in .gitignore',
    })
  }
}

/** Installed packages: too many to copy, needed by the tests, and not the project's own code. */
async function isDependencyFolder(path: string, entry: Dirent): Promise<boolean> {
  if (!['node_modules', '.venv', 'venv'].includes(entry.name)) return false
  if (entry.isSymbolicLink()) {
    const target = await stat(path).catch(() => null)
    if (!target?.isDirectory()) return false
  } else if (!entry.isDirectory()) return false
  if (entry.name === 'node_modules') return true
  // Any folder may be called venv; this file makes it a virtual environment.
  return access(join(path, 'pyvenv.cfg')).then(
    () => true,
    () => false,
  )
}
