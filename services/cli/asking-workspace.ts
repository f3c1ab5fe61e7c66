import { realpath } from 'node:fs/promises'
import { readRegularFile } from '../../shared/confined-folder.ts'
import type { SearchResult } from '../../shared/contracts/memory.ts'
import { type PresentFiles, staleReason } from '../../shared/stale-match.ts'
import { findGitFolder } from './snapshot/git-folder.ts'
import { listWorkspace } from './snapshot/list-workspace.ts'
import { repositoryIdOf } from './snapshot/repository-id.ts'

const MAX_FILES = 20_000
const MAX_FILE_BYTES = 512 * 1024

/** Where the person stands who asks. */
export type AskingWorkspace = {
  repositoryId: string
  /** Marks the matches of this repository whose place in the code is gone. */
  markStale(result: SearchResult): Promise<SearchResult>
}

/** Null where there is no folder to stand in. `home`: our own data, which is no part of a project. */
export async function askingWorkspace(
  folder: string,
  home: string,
): Promise<AskingWorkspace | null> {
  const workspace = await realpath(folder).catch(() => null)
  if (workspace === null) return null
  const git = await findGitFolder(workspace)
  const root = git?.root ?? workspace
  return {
    repositoryId: await repositoryIdOf(workspace, git),
    async markStale(result) {
      if (result.matches.every(({ touched }) => touched === null)) return result
      const { files } = await listWorkspace(root, git, { home, maxFiles: MAX_FILES })
      const present = filesBelow(root, files)
      const matches = result.matches.map(async (match) => {
        return { ...match, stale: await staleReason(present, match.touched) }
      })
      return { ...result, matches: await Promise.all(matches) }
    },
  }
}

/** Paths of a record begin in the folder that was repaired, which may be any of the repository. */
function filesBelow(root: string, paths: readonly string[]): PresentFiles {
  return {
    find: (path) => paths.filter((each) => each === path || each.endsWith(`/${path}`)),
    async text(path) {
      try {
        const file = await readRegularFile(root, path.split('/'), MAX_FILE_BYTES)
        return file.kind === 'file' && !file.bytes.includes(0) ? file.bytes.toString('utf8') : null
      } catch {
        // It was there a moment ago: nothing is said of it.
        return null
      }
    },
  }
}
