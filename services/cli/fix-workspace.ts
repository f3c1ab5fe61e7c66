import type { Config } from '../../shared/config.ts'
import type { RunRequest } from '../../shared/contracts/run.ts'
import type { RunEvent, RunView } from '../../shared/contracts/run-view.ts'
import { UnavailableError } from '../../shared/errors.ts'
import { publishSnapshot } from '../../shared/publish-snapshot.ts'
import { isRedisFault } from '../../shared/queue/redis-fault.ts'
import { loadPatch, runFiles, savePatch } from '../../shared/run-files.ts'
import { userPath } from '../../shared/user-path.ts'
import { followRun, startRun } from './follow-run.ts'
import { applyRun } from './patch/apply-run.ts'
import { changedText } from './patch/changed-text.ts'
import { listDependencies } from './snapshot/list-dependencies.ts'
import { outsidePackages } from './snapshot/outside-packages.ts'
import { type Snapshot, takeSnapshot } from './snapshot/snapshot.ts'
import { stayingText } from './snapshot/staying.ts'
import type { Services } from './with-services.ts'

/** What a person asks for: the run's request without what the snapshot and the clock add. */
export type FixOrder = Omit<
  RunRequest,
  'workspace' | 'repository_id' | 'path_env' | 'created_at'
> & { workspace: string }

export type FinishedRun = RunView & {
  applied: boolean
  /** Why a verified patch was not applied; null when it was, or when there is none. */
  not_applied_because: string | null
}

/** Takes the snapshot of an order and makes the run's request of it. Throws UsageError. */
export async function prepareRun(
  config: Config,
  env: Record<string, string | undefined>,
  order: FixOrder,
): Promise<{ request: RunRequest; snapshot: Snapshot }> {
  const { home } = config
  const { run_id: runId, workspace } = order
  const snapshot = await takeSnapshot({ home, runId, workspace })
  const request: RunRequest = {
    ...order,
    workspace: snapshot.workspace,
    repository_id: snapshot.repositoryId,
    path_env: userPath(env),
    created_at: new Date().toISOString(),
  }
  return { request, snapshot }
}

/**
 * Hands a snapshot of this machine, and a patch of it, to the fleet; no job may name the run before that.
 * Costs nothing where there is no fleet. Returns what a person should know of it: packages that stay on
 * this machine. Throws AstraError when it is too large to travel, or when Redis
 * does not take it.
 */
export async function publishRun(
  { config, blobs }: Pick<Services, 'config' | 'blobs'>,
  runId: string,
  patch: string | null = null,
): Promise<string | null> {
  if (!blobs) return null
  const files = runFiles(config.home, runId, blobs)
  try {
    const views = { list: listDependencies, outside: outsidePackages }
    const published = await publishSnapshot(files, views)
    if (patch !== null) await savePatch(files, await loadPatch(files, patch))
    return published && stayingText(published)
  } catch (cause) {
    if (!isRedisFault(cause)) throw cause
    throw new UnavailableError('Redis did not take the snapshot of the workspace', {
      hint: 'is it full, or has it gone? `astra doctor` looks at it; ASTRA_SHARED_DIR keeps more out of it',
      cause,
    })
  }
}

/** Starts a prepared run, follows it to its end, and applies what it verified. */
export async function runToEnd(
  services: Services,
  request: RunRequest,
  options: { apply: boolean; onEvent: (event: RunEvent) => void },
): Promise<FinishedRun> {
  await startRun(services.producer, request)
  const view = await followRun(services, request.run_id, options.onEvent)
  return applyIfVerified(services, view, options.apply)
}

async function applyIfVerified(
  { config, blobs }: Services,
  view: RunView,
  wanted: boolean,
): Promise<FinishedRun> {
  if (view.status !== 'fixed') return { ...view, applied: false, not_applied_because: null }
  if (!wanted) return { ...view, applied: false, not_applied_because: '--no-apply was given' }
  const result = await applyRun(config.home, view, view.workspace, 'refuse', blobs)
  const because = result.applied ? null : changedText(result)
  return { ...view, applied: result.applied, not_applied_because: because }
}
