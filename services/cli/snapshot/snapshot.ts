import { mkdir, realpath, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Manifest } from '../../../shared/contracts/manifest.ts'
import { UsageError } from '../../../shared/errors.ts'
import { type RunFiles, runFiles, writeFileAtomic } from '../../../shared/run-files.ts'
import { copyFiles, type SnapshotLimits } from './copy-files.ts'
import { findGitFolder } from './git-folder.ts'
import { listWorkspace, type WorkspaceList } from './list-workspace.ts'
import { repositoryIdOf } from './repository-id.ts'

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
      files: copied.files,
      links: list.links,
    }
    await writeFileAtomic(files.manifest, JSON.stringify(manifest))
    const leftOut = [...list.leftOut, ...copied.leftOut]
    return { workspace, repositoryId, files: copied.files.length, leftOut }
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
