import type { Redis } from 'ioredis'
import { z } from 'zod'
import { KEY_PREFIX } from '../queue/connection.ts'
import { recallModeSchema, runModeSchema, runReasonSchema, runStatusSchema } from './run.ts'
import { runEventDetailsSchema } from './run-event-details.ts'

const usageSchema = z.strictObject({
  input: z.number().int(),
  cached_input: z.number().int(),
  output: z.number().int(),
  reasoning: z.number().int(),
  total: z.number().int(),
})

/** A run as people and programs read it: `status --json`, `fix --json`, the dashboard. */
export const runViewSchema = z.strictObject({
  run_id: z.string(),
  status: z.enum(['queued', 'running', ...runStatusSchema.options]),
  reason: runReasonSchema.nullable(),
  message: z.string(),
  mode: runModeSchema,
  model: z.string(),
  workspace: z.string(),
  prompt: z.string(),
  created_at: z.string(),
  ended_at: z.string().nullable(),
  requests: z.number().int(),
  tool_calls: z.number().int(),
  /** Test jobs: the baseline, the model's test runs and the runner's own verifications. */
  tests: z.number().int().default(0),
  /** Edits, stores and final answers that the rules of the memory refused. */
  gate_refusals: z.number().int().default(0),
  tokens: usageSchema,
  cost_usd: z.number(),
  /** True: nobody pays this; it is what the same tokens would have cost with Astra. */
  cost_is_notional: z.boolean(),
  /** The most that it may cost; null for runs of before this was told. */
  budget_usd: z.number().nullable().default(null),
  recall: z.strictObject({
    mode: recallModeSchema,
    searches: z.number().int(),
    /** Those that told the model that the memory is unavailable. */
    unavailable: z.number().int().default(0),
    /** Those that told it that nothing is relevant, or that nothing may be shared. */
    answered_none: z.number().int().default(0),
    /** Those that told it of records. */
    matched: z.number().int().default(0),
    returned: z.array(z.strictObject({ memory_id: z.string(), score: z.number() })),
    /** null while nothing was edited. */
    delivered_before_first_edit: z.boolean().nullable(),
  }),
  verification: z
    .strictObject({
      command: z.string(),
      failing_before: z.array(z.string()),
      passing_after: z.array(z.string()),
      outcome: z.string().nullable(),
    })
    .nullable(),
  stored_memory_id: z.string().nullable(),
  /** It was accepted while the memory was away, and is written when that is back. */
  store_waits: z.boolean().default(false),
  /** A unified diff of what was changed, for people; null when nothing was. */
  patch: z.string().nullable(),
  /** Names the exact patch below the run's folder, for `apply`. */
  patch_hash: z.string().nullable(),
  /** Changes to protected files: they were left out of the patch. */
  dropped_paths: z.array(z.string()),
  response_ids: z.array(z.string()),
  final_text: z.string().nullable(),
})
export type RunView = z.infer<typeof runViewSchema>

/** Something that happened in a run, in the order in which it was journalled. */
export const runEventSchema = z.strictObject({
  type: z.enum(['started', 'baseline', 'request', 'response', 'call', 'result', 'ended', 'note']),
  at: z.string(),
  text: z.string(),
  details: runEventDetailsSchema.optional(),
})
export type RunEvent = z.infer<typeof runEventSchema>

export const runsIndexKey = `${KEY_PREFIX}:runs`
/** The runs that have begun and not ended. */
export const unfinishedRunsKey = `${KEY_PREFIX}:runs:unfinished`
export const runViewKey = (runId: string) => `${KEY_PREFIX}:run:${runId}:view`
export const runJournalKey = (runId: string) => `${KEY_PREFIX}:run:${runId}:journal`
export const runInboxKey = (runId: string) => `${KEY_PREFIX}:run:${runId}:inbox`
export const runEventsKey = (runId: string) => `${KEY_PREFIX}:run:${runId}:events`

export async function readRunView(redis: Redis, runId: string): Promise<RunView | null> {
  const text = await redis.get(runViewKey(runId))
  return text === null ? null : runViewSchema.parse(JSON.parse(text))
}

/** The newest runs first. */
export async function listRunViews(redis: Redis, limit: number): Promise<RunView[]> {
  const ids = await redis.zrevrange(runsIndexKey, 0, limit - 1)
  const views = await Promise.all(ids.map((id) => readRunView(redis, id)))
  return views.filter((view) => view !== null)
}

/** Events after `cursor` (start with "0"), and the cursor to go on from. Waits up to `blockMs`. */
export async function readRunEvents(
  redis: Redis,
  runId: string,
  cursor: string,
  blockMs: number,
): Promise<{ events: RunEvent[]; cursor: string }> {
  const reply = await redis.xread('BLOCK', blockMs, 'STREAMS', runEventsKey(runId), cursor)
  const entries = reply?.[0]?.[1] ?? []
  const events = entries.map(([, fields]) => runEventSchema.parse(JSON.parse(fields[1] ?? 'null')))
  return { events, cursor: entries.at(-1)?.[0] ?? cursor }
}
