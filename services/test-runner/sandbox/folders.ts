import { basename, join } from 'node:path'
import { sha256 } from '../../../shared/contracts/ids.ts'
import type { Manifest } from '../../../shared/contracts/manifest.ts'

/** Our own reporters and runner modules; test processes load them. */
export const reporters = join(import.meta.dirname, '..', 'runners')

/** Where a sandbox shows what is ours. */
export const insideRoot = '/run/astra'
/** Below it the dependency folders, by their number in the manifest. */
export const dependencyRoot = `${insideRoot}/dependencies`

/** The workspace's own name, because some projects import themselves by it. */
export const nameOf = ({ workspace }: Manifest) => basename(workspace) || 'workspace'

/**
 * One for each workspace: shared by all, one could poison what another builds. Sandboxes write as
 * another uid, so theirs is one of its own.
 */
export function goCacheFolder(home: string, workspace: string, isSandbox: boolean): string {
  const name = sha256(workspace).slice(0, 16)
  return join(home, 'cache', isSandbox ? 'go-sandbox' : 'go', name)
}
