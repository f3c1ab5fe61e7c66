import { type RunRequest, runRequestSchema, startJobId } from '../../shared/contracts/run.ts'
import { listRunViews, type RunView, readRunView } from '../../shared/contracts/run-view.ts'
import { UsageError } from '../../shared/errors.ts'
import type { Services } from './with-services.ts'

type QueueAccess = Pick<Services, 'redis' | 'producer'>

/** A run's view; of a run that no agent-runner has begun yet, what its request says. Throws UsageError. */
export async function findRun({ redis, producer }: QueueAccess, runId: string): Promise<RunView> {
  const view = await readRunView(redis, runId)
  if (view) return view
  const job = await producer.queue('runs').getJob(startJobId(runId))
  if (job) return queuedView(runRequestSchema.parse(job.data))
  throw new UsageError(`there is no run ${runId}`, { hint: '`astra runs` lists them' })
}

/** The newest runs, those that were not begun yet first. */
export async function listRuns(
  { redis, producer }: QueueAccess,
  limit: number,
): Promise<RunView[]> {
  const [begun, jobs] = await Promise.all([
    listRunViews(redis, limit),
    producer.queue('runs').getJobs(['waiting', 'prioritized', 'delayed'], 0, limit - 1),
  ])
  const known = new Set(begun.map((view) => view.run_id))
  const queued = jobs
    .filter((job) => job.name === 'start')
    .map((job) => queuedView(runRequestSchema.parse(job.data)))
    .filter((view) => !known.has(view.run_id))
  return [...queued, ...begun].slice(0, limit)
}

function queuedView(request: RunRequest): RunView {
  return {
    run_id: request.run_id,
    status: 'queued',
    reason: null,
    message: 'waits for an agent-runner',
    mode: request.mode,
    model: request.mode === 'live' ? 'Astra' : 'the stand-in',
    workspace: request.workspace,
    prompt: request.prompt,
    created_at: request.created_at,
    ended_at: null,
    requests: 0,
    tool_calls: 0,
    tests: 0,
    gate_refusals: 0,
    tokens: { input: 0, cached_input: 0, output: 0, reasoning: 0, total: 0 },
    cost_usd: 0,
    cost_is_notional: request.mode === 'offline',
    recall: {
      mode: request.recall,
      searches: 0,
      unavailable: 0,
      answered_none: 0,
      returned: [],
      delivered_before_first_edit: null,
    },
    verification: null,
    stored_memory_id: null,
    store_waits: false,
    patch: null,
    patch_hash: null,
    dropped_paths: [],
    response_ids: [],
    final_text: null,
  }
}
