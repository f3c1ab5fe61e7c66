import type { FlowJob } from 'bullmq'
import { jobIdOf } from '../../../shared/contracts/ids.ts'
import type { StorePayload } from '../../../shared/contracts/memory.ts'
import { flowJob, type Producer } from '../../../shared/queue/producer.ts'
import type { Scrubber } from '../../../shared/scrub/scrubber.ts'
import { normaliseSymptom } from '../../../shared/symptom.ts'
import type { WorkName } from '../journal/entries.ts'
import type { Journal } from '../journal/journal.ts'

/**
 * Work that other processes do for a run, as flows `deliver <- work <- embed`. `key` is where the
 * result goes in the run's inbox; all job ids follow from run and key, so repeating is harmless.
 */
export type WorkRequest = {
  run: { runId: string; journal: Journal }
  key: string
  work: FlowJob
}

/** The longest query that the store takes; a marker can be longer than what it stands for. */
const MAX_QUERY = 20_000

/** The job that brings the result for `key` into the run's inbox. */
export const deliverJobId = (runId: string, key: string) => jobIdOf('deliver', runId, key)

export async function dispatch(producer: Producer, { run, key, work }: WorkRequest): Promise<void> {
  const payload = { run_id: run.runId, call_id: key, work: workNameOf(work) }
  const placed = work.queueName === 'tests' ? await inTurn(producer, run.journal, work) : work
  const id = deliverJobId(run.runId, key)
  await producer.addFlowOnce(flowJob('tool-results', 'deliver', payload, id, [placed]))
}

/** The result that a job of that name brings. */
function workNameOf({ name }: FlowJob): WorkName {
  return name === 'run' ? 'tests' : (name as Exclude<WorkName, 'tests'>)
}

/** Tests are what runs wait for most: repositories take turns there. */
async function inTurn(producer: Producer, { start }: Journal, work: FlowJob): Promise<FlowJob> {
  if (!start) throw new Error('a run that has not started has no tests')
  const { repository_id: repositoryId, priority } = start.request
  const turn = await producer.fairPriority('tests', { repositoryId, priority })
  return { ...work, opts: { ...work.opts, priority: turn } }
}

type Search = {
  query: string
  error_type: string | null
  top_k: number
  /** Who asks. */
  repository_id: string | undefined
}

/**
 * `symptom`: what was observed of the run, normalised and scrubbed; the search takes the nearer of
 * the two. The model's words are scrubbed here.
 */
export async function searchWork(
  scrub: Scrubber,
  { runId, key, symptom }: { runId: string; key: string; symptom: string },
  search: Search,
): Promise<FlowJob> {
  const query = (await scrub(search.query)).text.slice(0, MAX_QUERY)
  const error_type = search.error_type && (await scrub(search.error_type)).text
  const texts = new Set([normaliseSymptom(query), symptom].filter((text) => text.trim()))
  const embed = embedWork(runId, key, [...texts])
  const question = { ...search, query, error_type, symptom }
  return flowJob('memory', 'search', question, jobIdOf('search', runId, key), [embed])
}

export function storeWork(runId: string, key: string, payload: StorePayload): FlowJob {
  const embed = embedWork(runId, key, [payload.evidence.symptom, payload.claim.fix_description])
  return flowJob('memory', 'store', payload, jobIdOf('store', runId, key), [embed])
}

function embedWork(runId: string, key: string, texts: string[]): FlowJob {
  return flowJob('embeddings', 'embed', { texts }, jobIdOf('embed', runId, key))
}

type TestEnvironment = { run_id: string; path_env: string }

export function baselineWork(env: TestEnvironment, key: string, command: string | null): FlowJob {
  return flowJob('tests', 'baseline', { ...env, command }, jobIdOf('baseline', env.run_id, key))
}

export function testsWork(
  env: TestEnvironment,
  key: string,
  kind: 'run' | 'verify',
  tree: { command: string; patch: string | null },
): FlowJob {
  return flowJob('tests', kind, { ...env, ...tree }, jobIdOf(kind, env.run_id, key))
}
