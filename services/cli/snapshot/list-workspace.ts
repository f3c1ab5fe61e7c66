import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { UsageError } from '../../../shared/errors.ts'
import { isSecretFolder, isSecretPath } from '../../../shared/secret-names.ts'
import { isLeftover } from '../patch/apply-leftovers.ts'
import { dependencyFolder } from './dependency-folder.ts'
import type { GitFolder } from './git-folder.ts'
import { type IgnoreRules, isIgnored, rulesAbove, withIgnoreFile } from './ignore-rules.ts'
import { type IncludeGlobs, readIncludeGlobs } from './include-globs.ts'
import { readTrackedFiles, type TrackedFiles } from './tracked-files.ts'

export type LeftOut = {
  path: string
  why:
    | 'link'
    | 'link to a place that is no dependency folder'
    | 'secret'
    | 'not a regular file'
    | 'not readable'
    | 'name is not UTF-8'
    | 'path is too long'
    | 'changed while it was read'
    | 'ignored files that git tracks are not known'
}

export type WorkspaceList = {
  /** Paths relative to the workspace, sorted within each folder. */
  files: string[]
  links: { path: string; target: string }[]
  /** What a person may miss; what git ignores is not named. */
  leftOut: LeftOut[]
}

type Walk = {
  workspace: string
  /** Our own data folder: it may lie inside the workspace. */
  home: string
  include: IncludeGlobs
  tracked: TrackedFiles
  maxFiles: number
  list: WorkspaceList
}

type Entry = { name: string; absolute: string; path: string; dirent: Dirent<Buffer> }

/** Copies stand below longer paths, and a system takes none above 4096 bytes. */
const MAX_PATH_BYTES = 1024

/** What a snapshot of `workspace` (a real path) is made of. Throws UsageError above `maxFiles`. */
export async function listWorkspace(
  workspace: string,
  git: GitFolder | null,
  options: { home: string; maxFiles: number },
): Promise<WorkspaceList> {
  const list: WorkspaceList = { files: [], links: [], leftOut: [] }
  const include = await readIncludeGlobs(workspace)
  const tracked = await readTrackedFiles(workspace, git)
  if (tracked.unknown !== null) {
    list.leftOut.push({ path: '.git/index', why: 'ignored files that git tracks are not known' })
  }
  const home = await realpath(options.home).catch(() => options.home)
  const walk = { workspace, home, include, tracked, maxFiles: options.maxFiles, list }
  await walkFolder(walk, workspace, await rulesAbove(workspace, git))
  return list
}

/** `rules: null` stands for an ignored folder, in which only what is included or tracked is taken. */
async function walkFolder(walk: Walk, folder: string, rules: IgnoreRules | null): Promise<void> {
  const inside = rules && (await withIgnoreFile(rules, folder))
  for (const entry of await entriesOf(walk, folder)) await visit(walk, entry, inside)
}

async function entriesOf({ workspace, list }: Walk, folder: string): Promise<Entry[]> {
  const named: Entry[] = []
  for (const dirent of await readFolder(workspace, folder, list)) {
    const name = dirent.name.toString('utf8')
    const absolute = join(folder, name)
    const path = relative(workspace, absolute)
    if (!Buffer.from(name).equals(dirent.name))
      list.leftOut.push({ path, why: 'name is not UTF-8' })
    else if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
      list.leftOut.push({ path, why: 'path is too long' })
    } else named.push({ name, absolute, path, dirent })
  }
  return named.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function readFolder(
  workspace: string,
  folder: string,
  list: WorkspaceList,
): Promise<Dirent<Buffer>[]> {
  try {
    return await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  } catch (error) {
    if (folder === workspace) throw error
    const denied = (error as NodeJS.ErrnoException).code === 'EACCES'
    const why = denied ? 'not readable' : 'changed while it was read'
    list.leftOut.push({ path: relative(workspace, folder), why })
    return []
  }
}

async function visit(walk: Walk, entry: Entry, rules: IgnoreRules | null): Promise<void> {
  const { name, absolute, path, dirent } = entry
  if (name.toLowerCase() === '.git' || absolute === walk.home || isLeftover(name)) return
  const dependencies = await dependencyFolder(absolute, walk)
  if (dependencies.kind === 'folder') {
    walk.list.links.push({ path, target: dependencies.target })
    return
  }
  if (dependencies.kind === 'refused') {
    walk.list.leftOut.push({ path, why: 'link to a place that is no dependency folder' })
    return
  }
  const ignored = rules === null || isIgnored(rules, absolute, dirent.isDirectory())
  if (dirent.isDirectory()) return visitFolder(walk, entry, ignored ? null : rules)
  if (ignored && !walk.include.matches(path) && !walk.tracked.has(path)) return
  takeFile(walk, entry)
}

async function visitFolder(walk: Walk, entry: Entry, rules: IgnoreRules | null): Promise<void> {
  const { name, absolute, path } = entry
  if (rules === null && !walk.include.reaches(path) && !walk.tracked.reaches(path)) return
  if (isSecretFolder(name)) walk.list.leftOut.push({ path, why: 'secret' })
  else await walkFolder(walk, absolute, rules)
}

function takeFile({ list, maxFiles }: Walk, { path, dirent }: Entry): void {
  if (dirent.isSymbolicLink()) list.leftOut.push({ path, why: 'link' })
  else if (!dirent.isFile()) list.leftOut.push({ path, why: 'not a regular file' })
  else if (isSecretPath(path)) list.leftOut.push({ path, why: 'secret' })
  else list.files.push(path)
  if (list.files.length > maxFiles) {
    throw new UsageError(`the workspace has more than ${maxFiles} files`, {
      hint: 'name a smaller folder, or list what is generated in .gitignore',
    })
  }
}
