import { existsSync } from 'node:fs'
import { arriveTree, fetchTree } from './blobs/arrive-tree.ts'
import type { Blobs } from './blobs/blobs.ts'
import { findPublishedRun, type PublishedRun } from './blobs/published-run.ts'
import { runPathProblem } from './blobs/run-paths.ts'
import type { Tree } from './blobs/tree.ts'
import { type Manifest, manifestSchema, treeHash } from './contracts/manifest.ts'
import { AstraError } from './errors.ts'
import { type RunFiles, readIfThere } from './run-files.ts'
import { readManifest } from './workspace.ts'

/** A run's snapshot as it stands on this machine. */
export type RunSnapshot = {
  base: string
  manifest: Manifest
  /** Set when it was taken on another machine: of the manifest's paths none is this machine's. */
  arrived: PublishedRun | null
}

/**
 * Finds a run's snapshot: where it was taken on this machine, that one, with the person's own dependency
 * folders; else a copy of what was sent, brought here now if need be. Throws AstraError when it is
 * nowhere.
 */
export async function findSnapshot(files: RunFiles): Promise<RunSnapshot> {
  const { home, runId } = files
  const found = await locate(files)
  if ('own' in found) return { base: files.base, manifest: found.own, arrived: null }
  const { folder, tree } = await arriveTree(
    found.blobs,
    home,
    snapshotOf(runId),
    found.published.base,
  )
  const manifest = manifestOf(runId, found.published, tree)
  return { base: folder, manifest, arrived: found.published }
}

/** What a run's snapshot is made of, wherever its files are. Throws AstraError when it is nowhere. */
export async function findManifest(files: RunFiles): Promise<Manifest> {
  const found = await locate(files)
  if ('own' in found) return found.own
  const { runId } = files
  const { tree } = await fetchTree(found.blobs, snapshotOf(runId), found.published.base)
  return manifestOf(runId, found.published, tree)
}

/** What other machines were told of a run that was not asked for here; null when it was. */
export async function findForeignRun(files: RunFiles): Promise<PublishedRun | null> {
  const found = await locate(files)
  return 'own' in found ? null : found.published
}

type Located = { own: Manifest } | { published: PublishedRun; blobs: Blobs }

async function locate(files: RunFiles): Promise<Located> {
  const { runId, blobs } = files
  if (!blobs) return { own: await readManifest(files) }
  const [text, published] = await Promise.all([
    readIfThere(files.manifest),
    findPublishedRun(blobs, runId),
  ])
  const own = text === null ? null : manifestSchema.parse(JSON.parse(text))
  // A backup has the list of files without the files.
  const isWhole = own && existsSync(files.base)
  if (own && (!published || (isWhole && isOf(own, published)))) return { own }
  if (published) return { published: believable(runId, published), blobs }
  throw new AstraError('snapshot_lost', `${snapshotOf(runId)} is neither here nor in Redis`, {
    hint: 'it stays for 30 days after its last use; begin the run anew',
  })
}

/** Whoever can write to Redis could have announced it. */
function believable(runId: string, published: PublishedRun): PublishedRun {
  const problem = runPathProblem(published)
  if (problem === null) return published
  throw new AstraError('hostile_run', `${snapshotOf(runId)} is refused: ${problem}`)
}

/** Run ids are people's: on this machine there may have been another run of that id. */
const isOf = (own: Manifest, published: PublishedRun) =>
  own.workspace === published.workspace && treeHash(own) === published.base_tree

const snapshotOf = (runId: string) => `the snapshot of run ${runId}`

/** Throws AstraError for a tree that is not the one that was announced. */
function manifestOf(runId: string, published: PublishedRun, { files, links }: Tree): Manifest {
  const { workspace, repository_id, base_tree, dependencies } = published
  const manifest: Manifest = {
    workspace,
    repository_id,
    files: files.map(({ path, sha256, mode }) => ({ path, sha256, mode })),
    links: dependencies.map(({ path, target }) => ({ path, target })),
  }
  if (links.length === 0 && treeHash(manifest) === base_tree) return manifest
  throw new AstraError('snapshot_altered', `${snapshotOf(runId)} is not the one that was announced`)
}
