import { constants } from 'node:fs'
import { chmod, mkdir, open, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Manifest } from '../../shared/contracts/manifest.ts'
import { UsageError } from '../../shared/errors.ts'
import { type RunFiles, runFiles, writeFileAtomic } from '../../shared/run-files.ts'
import { findGitFolder } from './git-folder.ts'
import { listWorkspace, type WorkspaceList } from './list-workspace.ts'
import { repositoryIdOf } from './repository-id.ts'

/** Bytes, and a number of files. */
export type SnapshotLimits = { fileBytes: number; totalBytes: number; files: number }

const defaultLimits: SnapshotLimits = {
  fileBytes: 20_000_000,
  totalBytes: 200_000_000,
  files: 20_000,
}

export type Snapshot = {
  /** The workspace's real path. */
  workspace: string
  repositoryId: string
  files: number
  leftOut: WorkspaceList['leftOut']
}

/**
 * Copies a workspace into the run's folder. Throws UsageError, and leaves nothing behind, when the
 * workspace cannot be used or a run of that id exists. The manifest is written last: a folder
 * without one is no snapshot.
 */
export async function takeSnapshot(
  request: { home: string; runId: string; workspace: string },
  limits: SnapshotLimits = defaultLimits,
): Promise<Snapshot> {
  const workspace = await realFolder(request.workspace)
  const git = await findGitFolder(workspace)
  const list = await listWorkspace(workspace, git, { home: request.home, maxFiles: limits.files })
  if (list.files.length === 0) {
    throw new UsageError(`there is nothing to work on in ${workspace}: it has no files`, {
      hint: 'what git ignores, links and secrets are left out; .astra.json can include ignored files',
    })
  }
  const files = runFiles(request.home, request.runId)
  await claimRunFolder(files, request.runId)
  try {
    const repositoryId = await repositoryIdOf(workspace, git)
    const copied = await copyFiles(workspace, list.files, files.base, limits)
    const manifest: Manifest = {
      workspace,
      repository_id: repositoryId,
      files: copied,
      links: list.links,
    }
    await writeFileAtomic(files.manifest, JSON.stringify(manifest))
    return { workspace, repositoryId, files: list.files.length, leftOut: list.leftOut }
  } catch (error) {
    await rm(files.dir, { recursive: true, force: true })
    throw error
  }
}

/** Takes back a snapshot whose run was never asked for. */
export async function dropSnapshot(home: string, runId: string): Promise<void> {
  await rm(runFiles(home, runId).dir, { recursive: true, force: true })
}

async function realFolder(path: string): Promise<string> {
  const real = await realpath(path).catch((cause) => {
    throw new UsageError(`there is no folder ${path}`, {
      hint: 'name the folder of the project whose tests fail',
      cause,
    })
  })
  if ((await stat(real)).isDirectory()) return real
  throw new UsageError(`${path} is a file, not a folder`, {
    hint: 'name the folder of the project whose tests fail',
  })
}

async function claimRunFolder(files: RunFiles, runId: string): Promise<void> {
  await mkdir(dirname(files.dir), { recursive: true, mode: 0o700 })
  try {
    await mkdir(files.dir, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new UsageError(`a run ${runId} exists already`, {
      hint: `choose another --run-id, or look at it with \`astra status ${runId}\``,
    })
  }
}

async function copyFiles(
  workspace: string,
  paths: string[],
  base: string,
  limits: SnapshotLimits,
): Promise<Manifest['files']> {
  const copied: Manifest['files'] = []
  let total = 0
  for (const path of paths) {
    const { bytes, mode } = await readRegularFile(workspace, path, limits.fileBytes)
    total += bytes.length
    if (total > limits.totalBytes) {
      throw new UsageError(`the workspace holds more than ${megabytes(limits.totalBytes)}`, {
        hint: 'name a smaller folder, or list large data in .gitignore',
      })
    }
    const target = join(base, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, bytes, { flag: 'wx' })
    await chmod(target, mode)
    copied.push({ path, sha256: sha256(bytes), mode })
  }
  return copied
}

async function readRegularFile(
  workspace: string,
  path: string,
  maxBytes: number,
): Promise<{ bytes: Buffer; mode: number }> {
  // The entry was a regular file when it was listed: a link or a fifo in its place is not followed.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(join(workspace, path), flags).catch((cause) => {
    throw new UsageError(`cannot read ${path}: ${(cause as Error).message}`, {
      hint: 'make it readable, or list it in .gitignore',
      cause,
    })
  })
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new UsageError(`${path} was replaced while it was read`)
    if (stats.size > maxBytes) {
      throw new UsageError(`${path} is larger than ${megabytes(maxBytes)}`, {
        hint: 'list large files in .gitignore',
      })
    }
    // Always readable and writable by us, or nothing could be done with the copy.
    return { bytes: await file.readFile(), mode: (stats.mode & 0o777) | 0o600 }
  } finally {
    await file.close()
  }
}

const megabytes = (bytes: number) => `${bytes / 1_000_000} MB`
