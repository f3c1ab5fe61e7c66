import { mkdir, mkdtemp, readdir, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Patch } from '../../../shared/contracts/patch.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import { materialise, type PlacedManifest } from '../../../shared/workspace.ts'
import { isAbandoned, ownerOf } from '../run/process-tree.ts'
import { nameOf } from '../sandbox/folders.ts'
import type { Layout, RunFolder, Sandbox } from '../sandbox/sandbox.ts'
import { applyPatch } from './apply-patch.ts'
import { removeFolder } from './remove-folder.ts'

const NAME = 'astra-test-'

/** Everything on this machine that one test run is made of. */
export type TestFolder = RunFolder & {
  layout: Layout
  /** Folders outside the workspace's own dependency folders that the copy's links lead to. */
  outside: string[]
  remove(): Promise<void>
}

export type TestFolderRequest = {
  home: string
  files: RunFiles
  manifest: PlacedManifest
  patch: Patch | null
  sandbox: Sandbox
}

/** A fresh copy of a run's base with a patch on it. */
export async function makeTestFolder(request: TestFolderRequest): Promise<TestFolder> {
  const { home, files, manifest, patch, sandbox } = request
  const created = await mkdtemp(join(tmpdir(), `${NAME}${ownerOf(home, process.pid)}-`))
  // Runners report real paths.
  const root = await realpath(created)
  const remove = () => removeFolder(root)
  try {
    const layout = sandbox.layout({ root, manifest })
    const copy = join(root, 'w', nameOf(manifest))
    const reportFile = join(root, 'astra-test-report')
    await mkdir(join(root, 'home'))
    await mkdir(join(root, 'tmp'))
    await mkdir(join(root, 'w'), { mode: 0o700 })
    const { outside, bytes } = await materialise(files, manifest, copy, layout)
    if (patch) await applyPatch(copy, patch)
    await writeFile(reportFile, '', { mode: 0o600 })
    const copyBytes = bytes + patchBytes(patch)
    return { root, copy, copyBytes, reportFile, layout, outside, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

function patchBytes(patch: Patch | null): number {
  return (patch?.files ?? []).reduce((sum, { after }) => sum + Buffer.byteLength(after ?? ''), 0)
}

/** Removes the folders of test-runners of this installation that were killed. */
export async function removeAbandonedFolders(home: string): Promise<void> {
  for (const folder of await abandonedFolders(home)) await removeFolder(folder)
}

export async function abandonedFolders(home: string): Promise<string[]> {
  return (await readdir(tmpdir()))
    .filter((name) => name.startsWith(NAME) && isAbandoned(name.slice(NAME.length), home))
    .map((name) => join(tmpdir(), name))
}
