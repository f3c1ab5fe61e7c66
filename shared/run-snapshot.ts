import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { arriveTree, fetchTree } from './blobs/arrive-tree.ts'
import { type Blobs, inMegabytes, TooLarge } from './blobs/blobs.ts'
import { type ListedTree, publishTree } from './blobs/publish-tree.ts'
import { announceRun, findPublishedRun, type PublishedRun } from './blobs/published-run.ts'
import { runPathProblem } from './blobs/run-paths.ts'
import type { Tree } from './blobs/tree.ts'
import { type Manifest, manifestSchema, treeHash } from './contracts/manifest.ts'
import { AstraError, UsageError } from './errors.ts'
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
  if (own && (!published || isOf(own, published))) return { own }
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

/** Packages are installed for one of these. */
const PLATFORM = `${process.platform}-${process.arch}`

/** Dependency folders of a snapshot that came from elsewhere, where they stand here now. */
export type ArrivedDependencies =
  | { kind: 'here'; folders: string[] }
  | { kind: 'missing'; message: string }

export async function bringDependencies(
  { home, runId, blobs }: RunFiles,
  { dependencies, platform, outside, workspace }: PublishedRun,
): Promise<ArrivedDependencies> {
  const [beside] = outside
  if (beside !== undefined) {
    const message =
      `the tests use ${beside}, which is not in ${workspace} and so does not travel to other machines: ` +
      'name a folder that holds both, or let a test-runner run on the machine where they are'
    return { kind: 'missing', message }
  }
  const [first] = dependencies
  if (first && platform !== PLATFORM) {
    const message = `${first.target} was installed on ${platform}, and this test-runner is on ${PLATFORM}`
    return { kind: 'missing', message }
  }
  if (!blobs) throw new Error('nothing can have arrived')
  const folders: string[] = []
  for (const { target, tree, bytes, limit } of dependencies) {
    if (!tree) return { kind: 'missing', message: didNotTravel(target, bytes, limit) }
    const what = `${target} of run ${runId}`
    folders.push((await arriveTree(blobs, home, what, tree)).folder)
  }
  return { kind: 'here', folders }
}

function didNotTravel(target: string, bytes: number, limit: number): string {
  return (
    `the tests need ${target}, which stands on the machine of the person who asked and is too large ` +
    `to travel (${inMegabytes(bytes)}, ASTRA_SNAPSHOT_REDIS_MB there is ${inMegabytes(limit)}): set ` +
    'ASTRA_SHARED_DIR on all machines to a folder that they share, or raise that limit'
  )
}

/** How the machine on which it was taken looks at a workspace's dependencies. */
export type DependencyViews = {
  list(folder: string): Promise<ListedTree & { bytes: number }>
  /** Packages beside the workspace that its tests use. */
  outside(manifest: Manifest): Promise<string[]>
}

/**
 * Puts the snapshot that was taken here where the other machines of the fleet find it; only after that a
 * job may name the run. A dependency folder that is too large stays here. Throws AstraError when the
 * workspace itself is too large, or when there is another run of that id.
 */
export async function publishSnapshot(files: RunFiles, views: DependencyViews): Promise<void> {
  const { blobs, runId } = files
  if (!blobs) return
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
  if (await announceRun(blobs, runId, run)) return
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
