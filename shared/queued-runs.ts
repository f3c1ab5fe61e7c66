import type { z } from 'zod'
import { type RunRequest, runRequestSchema, startJobId } from './contracts/run.ts'
import { type RunView, runViewSchema } from './contracts/run-view.ts'
import type { Producer } from './queue/producer.ts'

/** The runs that no agent-runner has begun yet, as far as `limit` jobs of the queue hold them. */
export async function listQueuedRuns(
  producer: Pick<Producer, 'queue'>,
  limit: number,
): Promise<RunView[]> {
  const states = ['waiting', 'prioritized', 'delayed'] as const
  const jobs = await producer.queue('runs').getJobs([...states], 0, limit - 1)
  return jobs
    .filter((job) => job.name === 'start')
    .map((job) => queuedView(runRequestSchema.parse(job.data)))
}

/** What the request of a run says; null when no such run was asked for. */
export async function findQueuedRun(
  producer: Pick<Producer, 'queue'>,
  runId: string,
): Promise<RunView | null> {
  const job = await producer.queue('runs').getJob(startJobId(runId))
  return job ? queuedView(runRequestSchema.parse(job.data)) : null
}

function queuedView(request: RunRequest): RunView {
  const view: z.input<typeof runViewSchema> = {
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
    tokens: { input: 0, cached_input: 0, output: 0, reasoning: 0, total: 0 },
    cost_usd: 0,
    cost_is_notional: request.mode === 'offline',
    recall: {
      mode: request.recall,
      searches: 0,
      returned: [],
      delivered_before_first_edit: null,
    },
    verification: null,
    stored_memory_id: null,
    patch: null,
    patch_hash: null,
    dropped_paths: [],
    response_ids: [],
    final_text: null,
  }
  return runViewSchema.parse(view)
}
