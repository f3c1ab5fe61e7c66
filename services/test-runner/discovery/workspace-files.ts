import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What discovery looks at: the base of a run. */
export type WorkspaceFiles = {
  root: string
  /** Relative paths of all files. */
  paths: readonly string[]
  /** The text of a file; empty when it is not there. */
  read(path: string): Promise<string>
}

export function workspaceFiles(root: string, paths: readonly string[]): WorkspaceFiles {
  return { root, paths, read: (path) => readFile(join(root, path), 'utf8').catch(() => '') }
}
