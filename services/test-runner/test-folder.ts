import { mkdir, mkdtemp, readdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Manifest } from '../../shared/contracts/manifest.ts'
import type { Patch } from '../../shared/contracts/patch.ts'
import type { RunFiles } from '../../shared/run-files.ts'
import { materialise } from '../../shared/workspace.ts'
import { applyPatch } from './apply-patch.ts'
import { isAbandoned, ownerOf } from './process-tree.ts'
import { removeFolder } from './remove-folder.ts'

const NAME = 'astra-test-'

/** Everything that one test run may write to. */
export type TestFolder = {
  /** The copy of the workspace; its own name, because some projects import themselves by it. */
  workspace: string
  home: string
  temporary: string
  reportFile: string
  remove(): Promise<void>
}

/** A fresh copy of a run's base with a patch on it. */
export async function makeTestFolder(
  home: string,
  files: RunFiles,
  manifest: Manifest,
  patch: Patch | null,
): Promise<TestFolder> {
  const created = await mkdtemp(join(tmpdir(), `${NAME}${ownerOf(home, process.pid)}-`))
  // Runners report real paths.
  const root = await realpath(created)
  const remove = () => removeFolder(root)
  const folder = {
    workspace: join(root, 'w', basename(manifest.workspace) || 'workspace'),
    home: join(root, 'home'),
    temporary: join(root, 'tmp'),
    reportFile: join(root, 'astra-test-report'),
    remove,
  }
  try {
    await mkdir(folder.home)
    await mkdir(folder.temporary)
    await materialise(files, manifest, folder.workspace)
    if (patch) await applyPatch(folder.workspace, patch)
    return folder
  } catch (error) {
    await remove()
    throw error
  }
}

/** Removes the folders of test-runners of this installation that were killed. */
export async function removeAbandonedFolders(home: string): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const abandoned = name.startsWith(NAME) && isAbandoned(name.slice(NAME.length), home)
    if (abandoned) await removeFolder(join(tmpdir(), name))
  }
}
