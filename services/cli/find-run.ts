import { listRunViews, type RunView, readRunView } from '../../shared/contracts/run-view.ts'
import { UsageError } from '../../shared/errors.ts'
import { findQueuedRun, listQueuedRuns } from '../../shared/queued-runs.ts'
import type { Services } from './with-services.ts'

type QueueAccess = Pick<Services, 'redis' | 'producer'>

/** A run's view; of a run that no agent-runner has begun yet, what its request says. Throws UsageError. */
export async function findRun({ redis, producer }: QueueAccess, runId: string): Promise<RunView> {
  const view = (await readRunView(redis, runId)) ?? (await findQueuedRun(producer, runId))
  if (view) return view
  throw new UsageError(`there is no run ${runId}`, { hint: '`astra runs` lists them' })
}

/** The newest runs, those that were not begun yet first. */
export async function listRuns(
  { redis, producer }: QueueAccess,
  limit: number,
): Promise<RunView[]> {
  const [begun, queued] = await Promise.all([
    listRunViews(redis, limit),
    listQueuedRuns(producer, limit),
  ])
  const known = new Set(begun.map((view) => view.run_id))
  return [...queued.filter((view) => !known.has(view.run_id)), ...begun].slice(0, limit)
}
