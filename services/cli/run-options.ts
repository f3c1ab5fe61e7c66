import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Config } from '../../shared/config.ts'
import { newRunId, runIdSchema } from '../../shared/contracts/ids.ts'
import { SMOKE_SESSION_PREFIX } from '../../shared/contracts/memory.ts'
import {
  type RecallMode,
  type RunLimits,
  type RunPriority,
  runPrioritySchema,
} from '../../shared/contracts/run.ts'
import type { FixOrder } from './fix-workspace.ts'
import { isScratchId } from './scratch-run.ts'

export const DEFAULT_PROMPT =
  'Tests of this project fail. Find the cause, repair the source and leave the tests as they are. ' +
  'Done means that all tests pass.'

/** What `fix` and `enqueue` have in common. */
export type RunOptions = {
  prompt: string
  runId?: string
  offline?: true
  approveLiveCost?: true
  recall: RecallMode
  priority: RunPriority
  command?: string
} & LimitOptions

type LimitOptions = {
  maxRequests?: number
  maxToolCalls?: number
  maxTokens?: number
  maxSeconds?: number
  budget?: number
}

export function addRunOptions(command: Command): Command {
  return command
    .option('--prompt <text>', 'what to tell the model', promptText, DEFAULT_PROMPT)
    .option('--run-id <id>', 'name of the run, and session id of what it stores', runId)
    .addOption(
      new Option('--offline', 'use the local stand-in, which is not Astra').conflicts(
        'approveLiveCost',
      ),
    )
    .option('--approve-live-cost', 'allow paid requests to Astra for this run')
    .addOption(
      new Option('--recall <mode>', 'who searches the memory: the model, or the runner beforehand')
        .choices(['tool', 'prefetch'])
        .default('tool'),
    )
    .addOption(
      new Option('--priority <class>', 'all waiting runs of a class go before those of the next')
        .choices(runPrioritySchema.options)
        .default('normal'),
    )
    .option('--command <cmd>', 'test command, one of those found in the workspace')
    .option('--max-requests <n>', 'limit of model requests', wholeNumber(1, 1000))
    .option('--max-tool-calls <n>', 'limit of tool calls', wholeNumber(1, 10_000))
    .option('--max-tokens <n>', 'limit of tokens in all', wholeNumber(1000, 100_000_000))
    .option('--max-seconds <n>', 'limit of time in all', wholeNumber(1, 86_400))
    .option('--budget <usd>', 'limit of cost of this run', dollars)
}

/** The order that the options make, with the configuration's limits where none was given. */
export function orderOf(workspace: string, options: RunOptions, config: Config): FixOrder {
  return {
    run_id: options.runId ?? newRunId(new Date()),
    workspace,
    prompt: options.prompt,
    mode: options.offline ? 'offline' : 'live',
    recall: options.recall,
    priority: options.priority,
    approve_live_cost: options.approveLiveCost ?? false,
    command: options.command ?? null,
    limits: limitsOf(options, config),
  }
}

/** The limits of a run: the options', else the configuration's. */
export function limitsOf(options: LimitOptions, config: Config): RunLimits {
  return {
    max_requests: options.maxRequests ?? config.ASTRA_MAX_REQUESTS,
    max_tool_calls: options.maxToolCalls ?? config.ASTRA_MAX_TOOL_CALLS,
    max_tokens: options.maxTokens ?? config.ASTRA_MAX_TOKENS,
    max_output_tokens: config.ASTRA_MAX_OUTPUT_TOKENS,
    time_seconds: options.maxSeconds ?? config.ASTRA_RUN_SECONDS,
    budget_microusd: Math.round((options.budget ?? config.ASTRA_RUN_BUDGET_USD) * 1_000_000),
  }
}

/** A checker for commander: digits only, within the bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }
}

export function runId(text: string): string {
  if (text.startsWith(SMOKE_SESSION_PREFIX)) {
    throw new InvalidArgumentError(`"${SMOKE_SESSION_PREFIX}" begins the names of smoke tests.`)
  }
  if (isScratchId(text)) {
    throw new InvalidArgumentError('Such names are those of verifications.')
  }
  const parsed = runIdSchema.safeParse(text)
  if (parsed.success) return parsed.data
  throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'It is no run id.')
}

function dollars(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value <= 100_000) return value
  throw new InvalidArgumentError('It must be an amount in dollars, such as 0.50.')
}

function promptText(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length >= 1 && trimmed.length <= 20_000) return trimmed
  throw new InvalidArgumentError('It must have 1 to 20,000 characters.')
}
