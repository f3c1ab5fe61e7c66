import type { Redis } from 'ioredis'
import { partsOf } from '../../../shared/contracts/metrics.ts'
import { runModeSchema } from '../../../shared/contracts/run.ts'
import type { RunView } from '../../../shared/contracts/run-view.ts'
import { KEY_PREFIX } from '../../../shared/queue/connection.ts'

export const runCounters = {
  astra_runs_total: {
    help: 'Ended runs.',
    labelNames: ['mode', 'status', 'reason'],
  },
  astra_model_requests_total: {
    help: 'Attempts of model requests, of all runs.',
    labelNames: ['mode'],
  },
  astra_tool_calls_total: { help: 'Tool calls that were carried out.', labelNames: ['mode'] },
  astra_test_runs_total: {
    help: 'Test jobs of runs: baselines, runs of the model and verifications.',
    labelNames: ['mode'],
  },
  astra_memory_searches_total: {
    help: 'Searches of the memory by what they told the model: matches, none (an abstention), unavailable, or undelivered when its run ended.',
    labelNames: ['mode', 'answer'],
  },
  astra_gate_refusals_total: {
    help: 'Edits, stores and final answers that a gate refused.',
    labelNames: ['mode'],
  },
  astra_tokens_total: {
    help: "Tokens of model requests; the kinds exclude one another. cached_input: what the model's provider had in its prompt cache.",
    labelNames: ['mode', 'kind'],
  },
  astra_run_cost_dollars_total: {
    help: 'What runs cost by their journals; offline dollars are paid by nobody.',
    labelNames: ['mode'],
  },
} as const
export type RunCounter = keyof typeof runCounters

export const runHistograms = {
  astra_run_budget_spent_ratio: {
    help: 'The part of their own budget that ended runs spent which asked the model. Runs that a budget stopped are those of reason budget in astra_runs_total.',
    labelNames: ['mode'],
    buckets: [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1],
  },
} as const
export type RunHistogram = keyof typeof runHistograms

/**
 * Whole numbers by metric and label values, as JSON, of a histogram with the part before them;
 * dollars and sums in millionths.
 */
export type RunCounts = Map<string, number>

const fieldOf = (name: RunCounter, ...values: string[]) => JSON.stringify([name, ...values])

/** What one run adds to the counters. */
export function countsOf(view: RunView): RunCounts {
  const { mode, recall, tokens } = view
  const counts: Count[] = [
    [fieldOf('astra_model_requests_total', mode), view.requests],
    [fieldOf('astra_tool_calls_total', mode), view.tool_calls],
    [fieldOf('astra_test_runs_total', mode), view.tests],
    [fieldOf('astra_memory_searches_total', mode, 'matches'), recall.matched],
    [fieldOf('astra_memory_searches_total', mode, 'none'), recall.answered_none],
    [fieldOf('astra_memory_searches_total', mode, 'unavailable'), recall.unavailable],
    [fieldOf('astra_gate_refusals_total', mode), view.gate_refusals],
    [fieldOf('astra_tokens_total', mode, 'cached_input'), tokens.cached_input],
    [fieldOf('astra_tokens_total', mode, 'fresh_input'), tokens.input - tokens.cached_input],
    [fieldOf('astra_tokens_total', mode, 'reasoning'), tokens.reasoning],
    [fieldOf('astra_tokens_total', mode, 'answer'), tokens.output - tokens.reasoning],
    [fieldOf('astra_run_cost_dollars_total', mode), Math.round(view.cost_usd * 1e6)],
  ]
  if (view.ended_at !== null) {
    const delivered = recall.matched + recall.answered_none + recall.unavailable
    counts.push([
      fieldOf('astra_memory_searches_total', mode, 'undelivered'),
      recall.searches - delivered,
    ])
    counts.push([fieldOf('astra_runs_total', mode, view.status, view.reason ?? 'none'), 1])
    counts.push(...budgetCounts(view))
  }
  return new Map(counts)
}

/** Nothing for runs that had nothing to spend, or nothing to spend it on. */
function budgetCounts({ mode, requests, cost_usd, budget_usd }: RunView): Count[] {
  if (!budget_usd || requests === 0) return []
  const name: RunHistogram = 'astra_run_budget_spent_ratio'
  return partsOf(cost_usd / budget_usd, runHistograms[name].buckets).map(([part, by]) => [
    JSON.stringify([name, part, mode]),
    by,
  ])
}

/** Hash: what ended runs have added to the counters, since the first that was counted. */
const totalsKey = `${KEY_PREFIX}:metrics:runs`
/** Sorted set: the runs that are in there, by when they were created. */
const countedKey = `${KEY_PREFIX}:metrics:runs:counted`

/**
 * Adds what an ended run counts, once, whoever does it how often.
 * KEYS: totals, counted. ARGV: run id, created at (ms), field, by, ...
 */
const ADD_RUN = `
if redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[1]) == 0 then return 0 end
for i = 3, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end
return 1
`

/** Views go 30 days after their run's end: what was not counted until then is not known any more. */
const KEEP_COUNTED_MS = 90 * 24 * 3600 * 1000

export async function addToTotals(redis: Redis, view: RunView): Promise<void> {
  // Zeros too: what was shown once is not to be gone, and rules look at how it grows.
  const added = [...countsOf(view)].flat()
  const createdAt = Date.parse(view.created_at)
  await redis.eval(ADD_RUN, 2, totalsKey, countedKey, view.run_id, createdAt, ...added)
}

export async function readTotals(redis: Redis): Promise<RunCounts> {
  const fields = Object.entries(await redis.hgetall(totalsKey))
  return new Map([...noneYet, ...fields.map(([field, text]): Count => [field, Number(text)])])
}

type Count = [field: string, by: number]

/** Shown from the start, so that the first run that a budget stops is seen as growth. */
const noneYet = runModeSchema.options.map(
  (mode): Count => [fieldOf('astra_runs_total', mode, 'limit_reached', 'budget'), 0],
)

/** The runs that need not be looked at again. */
export async function countedRuns(redis: Redis, now: Date): Promise<string[]> {
  await redis.zremrangebyscore(countedKey, '-inf', now.getTime() - KEEP_COUNTED_MS)
  return redis.zrangebyscore(countedKey, '-inf', '+inf')
}
