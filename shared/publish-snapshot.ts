import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Blobs, TooLarge } from './blobs/blobs.ts'
import { type ListedTree, publishTree } from './blobs/publish-tree.ts'
import { announceRun, PLATFORM, type PublishedRun } from './blobs/published-run.ts'
import { runPathProblem } from './blobs/run-paths.ts'
import { type Manifest, treeHash } from './contracts/manifest.ts'
import { UsageError } from './errors.ts'
import type { RunFiles } from './run-files.ts'
import { readManifest } from './workspace.ts'

/** How the machine on which it was taken looks at a workspace's dependencies. */
export type DependencyViews = {
  list(folder: string): Promise<ListedTree & { bytes: number }>
  /** Packages beside the workspace that its tests use. */
  outside(manifest: Manifest): Promise<string[]>
}

/**
 * Puts the snapshot that was taken here where the other machines of the fleet find it; only after that a
 * job may name the run. A dependency folder that is too large stays here. Returns what was announced, or
 * null where there is no fleet. Throws AstraError when the
 * workspace itself is too large, or when there is another run of that id.
 */
export async function publishSnapshot(
  files: RunFiles,
  views: DependencyViews,
): Promise<PublishedRun | null> {
  const { blobs, runId } = files
  if (!blobs) return null
  const manifest = await readManifest(files)
  const dependencies: PublishedRun['dependencies'] = []
  const base = await publishBase(blobs, files, manifest)
  for (const { path, target } of manifest.links) {
    const listed = await views.list(target)
    const tree = await publishTree(blobs, listed)
    dependencies.push({ path, target, tree, bytes: listed.bytes, limit: blobs.limit })
  }
  const { workspace, repository_id = null } = manifest
  const base_tree = treeHash(manifest)
  const outside = await views.outside(manifest)
  const run: PublishedRun = {
    platform: PLATFORM,
    workspace,
    repository_id,
    base_tree,
    base,
    outside,
    dependencies,
  }
  const problem = runPathProblem(run)
  if (problem) {
    throw new UsageError(`the workspace cannot be sent to other machines: ${problem}`, {
      hint: 'put the project elsewhere: tests see it at its own path, beside the system of their machine',
    })
  }
  if (await announceRun(blobs, runId, run)) return run
  throw new UsageError(`a run ${runId} exists already in this fleet`, {
    hint: `choose another --run-id, or look at it with \`astra status ${runId}\``,
  })
}

async function publishBase(blobs: Blobs, { base }: RunFiles, { workspace, files }: Manifest) {
  const sizes = await Promise.all(files.map(({ path }) => sizeOf(join(base, path))))
  const listed = files.map(({ path, mode }, index) => ({ path, mode, size: sizes[index] ?? 0 }))
  const read = (path: string) => readFile(join(base, path))
  const ref = await publishTree(blobs, { files: listed, links: [], folders: [], read })
  if (ref) return ref
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  throw new TooLarge(`the workspace ${workspace}`, bytes, blobs.limit)
}

const sizeOf = async (path: string) => (await stat(path)).size
