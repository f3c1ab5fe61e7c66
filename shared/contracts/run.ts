import { z } from 'zod'
import { jobIdOf, runIdSchema } from './ids.ts'

export const runModeSchema = z.enum(['live', 'offline'])
export type RunMode = z.infer<typeof runModeSchema>

/** Who searches: Astra by its tool, or the runner with the baseline's symptom before the first request. */
export const recallModeSchema = z.enum(['tool', 'prefetch'])
export type RecallMode = z.infer<typeof recallModeSchema>

/** In the order in which they are served: all of one class before any of the next. */
export const runPrioritySchema = z.enum(['high', 'normal', 'low'])
export type RunPriority = z.infer<typeof runPrioritySchema>

export const runStatusSchema = z.enum([
  'fixed',
  'not_fixed',
  'nothing_to_fix',
  'limit_reached',
  'refused',
  'cancelled',
  'failed',
])
export type RunStatus = z.infer<typeof runStatusSchema>

/** Why a run ended as it did. Each belongs to one or two statuses; the README lists them. */
export const runReasonSchema = z.enum([
  'tests_pass',
  'tests_fail',
  'no_edit',
  'tests_already_green',
  'max_requests',
  'max_tool_calls',
  'max_tokens',
  'budget',
  'time',
  'no_api_key',
  'cost_not_approved',
  'unknown_price',
  'no_offline_model',
  'no_tests_found',
  'runner_missing',
  'tests_timed_out',
  'tests_output_limit',
  'tests_memory_limit',
  'no_sandbox',
  'dependencies_missing',
  'tests_unreadable',
  'cancelled_by_user',
  'memory_gate',
  'model_error',
  'model_refused',
  'model_output_invalid',
  'internal_error',
])
export type RunReason = z.infer<typeof runReasonSchema>

/** Exit codes of the CLI, one for each end status. 1 is a fault of ours, 2 wrong usage, 130 an interrupt. */
export const exitCodes: Record<RunStatus, number> = {
  fixed: 0,
  not_fixed: 3,
  nothing_to_fix: 4,
  limit_reached: 5,
  refused: 6,
  cancelled: 7,
  failed: 8,
}

export const runLimitsSchema = z.strictObject({
  max_requests: z.number().int().min(1).max(1000),
  max_tool_calls: z.number().int().min(1).max(10_000),
  max_tokens: z.number().int().min(1000),
  max_output_tokens: z.number().int().min(16).max(128_000),
  time_seconds: z.number().int().min(1).max(86_400),
  budget_microusd: z.number().int().nonnegative(),
})
export type RunLimits = z.infer<typeof runLimitsSchema>

/** Everything a run needs, as the CLI puts it into the first job. */
export const runRequestSchema = z.strictObject({
  run_id: runIdSchema,
  workspace: z.string(),
  repository_id: z.string(),
  prompt: z.string().trim().min(1).max(20_000),
  mode: runModeSchema,
  recall: recallModeSchema,
  /** Requests that were queued before there were priorities have none. */
  priority: runPrioritySchema.default('normal'),
  approve_live_cost: z.boolean(),
  command: z.string().nullable(),
  path_env: z.string(),
  limits: runLimitsSchema,
  created_at: z.iso.datetime(),
})
export type RunRequest = z.infer<typeof runRequestSchema>

/** The job that begins a run. */
export const startJobId = (runId: string) => jobIdOf('start', runId)

/** A run's start and all its wakes share this: never two at once, and none is lost. */
export const runDeduplication = (runId: string) => ({ id: runId, keepLastIfActive: true })
