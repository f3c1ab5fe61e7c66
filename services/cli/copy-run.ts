import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Blobs } from '../../shared/blobs/blobs.ts'
import { announceRun } from '../../shared/blobs/published-run.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { type Manifest, treeHash } from '../../shared/contracts/manifest.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { AstraError, UsageError } from '../../shared/errors.ts'
import { loadPatch, runFiles, savePatch, writeFileAtomic } from '../../shared/run-files.ts'
import { findForeignRun, findManifest } from '../../shared/run-snapshot.ts'
import { readManifest } from '../../shared/workspace.ts'
import { publishRun } from './fix-workspace.ts'
import { hasEnded } from './follow-run.ts'
import { checkPath } from './patch/patch-from-diff.ts'
import { readTranscript } from './read-transcript.ts'
import type { Services } from './with-services.ts'

/** `patch`: its hash. */
type CopiedRun = { manifest: Manifest; patch: string }

/**
 * Readies an ended run for being proved again under another id: its copy, where it was asked for on this
 * machine, else what the fleet has of it.
 */
export async function repeatRun(
  services: Pick<Services, 'config' | 'blobs'>,
  view: RunView,
  id: string,
): Promise<CopiedRun> {
  const { config, blobs } = services
  const files = runFiles(config.home, view.run_id, blobs)
  const foreign = blobs && (await findForeignRun(files))
  if (!blobs || !foreign) {
    const copied = await copyRun(config.home, view, id)
    await publishRun(services, id, copied.patch)
    return copied
  }
  const patch = patchOf(view)
  const manifest = await findManifest(files)
  await checkReceipt(config.home, view.run_id, manifest, blobs)
  // It is there, and stays.
  await loadPatch(files, patch)
  await announceRun(blobs, id, foreign)
  return { manifest, patch }
}

/** Copies snapshot and patch of an ended run into another run's folder, each file checked. */
export async function copyRun(home: string, view: RunView, id: string): Promise<CopiedRun> {
  const { run_id: runId } = view
  const patch = patchOf(view)
  const from = runFiles(home, runId)
  const to = runFiles(home, id)
  const manifest = await readManifest(from).catch((cause) => {
    throw new AstraError('snapshot_lost', `the snapshot of run ${runId} cannot be read`, { cause })
  })
  await checkReceipt(home, runId, manifest)
  await checkDependencies(manifest)
  for (const file of manifest.files) await copyFile(from.base, to.base, file)
  await writeFileAtomic(to.manifest, JSON.stringify(manifest))
  const kept = await loadPatch(from, patch).catch((cause) => {
    const message = `the patch of run ${runId} is gone or was altered`
    throw new AstraError('patch_lost', message, { cause })
  })
  return { manifest, patch: await savePatch(to, kept) }
}

/** The hash of an ended run's patch. Throws UsageError when there is none. */
function patchOf(view: RunView): string {
  const { run_id: runId, patch_hash: patch } = view
  if (!hasEnded(view)) {
    throw new UsageError(`run ${runId} has not ended`, { hint: `\`astra watch ${runId}\` waits` })
  }
  if (patch === null) throw noPatch(view)
  return patch
}

/** A snapshot that was altered together with its list of files is not the one that was proved. */
async function checkReceipt(
  home: string,
  runId: string,
  manifest: Manifest,
  blobs: Blobs | null = null,
): Promise<void> {
  // A run without a proof has no receipt, and one of an earlier version has another kind.
  const lines = await readTranscript(home, runId, blobs).catch(() => [])
  for (const line of lines) {
    const receipt = line.type === 'verification' ? line.receipt : undefined
    if (!receipt || receipt.body.base_tree === treeHash(manifest)) continue
    throw altered(`the snapshot of run ${runId} is not the one of its receipt`)
  }
}

const altered = (message: string) =>
  new AstraError('snapshot_altered', message, { hint: 'its proof cannot be repeated any more' })

async function copyFile(
  from: string,
  to: string,
  { path, sha256: hash, mode }: Manifest['files'][number],
): Promise<void> {
  checkPath(path)
  const bytes = await readFile(join(from, path)).catch(() => null)
  if (bytes === null || sha256(bytes) !== hash) {
    const what = bytes === null ? 'is gone' : 'was altered'
    throw altered(`${path} ${what} in the snapshot of the run`)
  }
  const target = join(to, path)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, bytes, { flag: 'wx' })
  await chmod(target, mode)
}

/** Installed packages are used where they are: a snapshot has no copy of them. */
async function checkDependencies({ links, workspace }: Manifest): Promise<void> {
  for (const { path, target } of links) {
    const stats = await stat(target).catch(() => null)
    if (stats?.isDirectory()) continue
    throw new AstraError('dependencies_gone', `${target} is gone, which the tests need`, {
      hint: `install the dependencies of ${workspace} again (its ${path})`,
    })
  }
}

function noPatch(view: RunView): UsageError {
  const dropped = view.dropped_paths.join(', ')
  const why = dropped ? `: it changed only tests or their configuration (${dropped})` : ''
  return new UsageError(`run ${view.run_id} is ${view.status} and has no patch${why}`, {
    hint: `\`astra status ${view.run_id}\` shows what it did`,
  })
}
