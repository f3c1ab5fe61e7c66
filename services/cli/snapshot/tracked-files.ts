import { relative } from 'node:path'
import { readRegularFile } from '../../../shared/confined-folder.ts'
import type { GitFolder } from './git-folder.ts'
import { type GitIndex, parseGitIndex } from './git-index.ts'

/** What git tracks: ignore rules do not hold for it. */
export type TrackedFiles = {
  has(path: string): boolean
  /** Whether something below this folder is tracked. */
  reaches(folder: string): boolean
  /** Why tracked files are not known; null when they are, or when there is no repository. */
  unknown: string | null
}

/** An index of a million files is about this large. */
const MAX_BYTES = 150_000_000

/** The tracked files of `workspace` (a real path), by paths relative to it. */
export async function readTrackedFiles(
  workspace: string,
  git: GitFolder | null,
): Promise<TrackedFiles> {
  const index: GitIndex = git ? await readIndex(git.gitDir) : { ok: true, paths: [] }
  if (!index.ok) return { has: () => false, reaches: () => false, unknown: index.why }
  const inside = git ? relative(git.root, workspace) : ''
  const prefix = inside === '' ? '' : `${inside}/`
  const paths = index.paths
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length))
  const files = new Set(paths)
  const folders = new Set(paths.flatMap(foldersOf))
  return {
    has: (path) => files.has(path),
    reaches: (folder) => folders.has(folder),
    unknown: null,
  }
}

async function readIndex(gitDir: string): Promise<GitIndex> {
  try {
    const file = await readRegularFile(gitDir, ['index'], MAX_BYTES)
    if (file.kind === 'file') return parseGitIndex(file.bytes)
    return { ok: false, why: file.kind === 'too_large' ? 'it is too large' : 'it is no file' }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // A repository in which nothing was added yet has none.
    return code === 'ENOENT' ? { ok: true, paths: [] } : { ok: false, why: message }
  }
}

function foldersOf(path: string): string[] {
  const folders: string[] = []
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    folders.push(path.slice(0, at))
  }
  return folders
}
