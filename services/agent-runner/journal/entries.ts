import { z } from 'zod'
import { searchResultSchema, storeResultSchema } from '../../../shared/contracts/memory.ts'
import {
  runReasonSchema,
  runRequestSchema,
  runStatusSchema,
} from '../../../shared/contracts/run.ts'
import {
  baselineResultSchema,
  testRunResultSchema,
  verificationSchema,
} from '../../../shared/contracts/tests.ts'

/** How the model is asked. Kept with the run: another chain in the middle would break it. */
export const modelSettingsSchema = z.strictObject({
  model: z.string(),
  effort: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']),
  /** How a request names what was said before: by the latest response's id, or by saying it again. */
  chain: z.enum(['previous', 'resend']),
  /** Null: not sent, so the service decides. */
  tier: z.enum(['auto', 'default', 'flex', 'priority']).nullable(),
})
export type ModelSettings = z.infer<typeof modelSettingsSchema>

/** A run's beginning. `refusal` is decided once, with the configuration of that moment. */
export const startEntrySchema = z.strictObject({
  at: z.iso.datetime(),
  request: runRequestSchema,
  model: z.string(),
  /** Null when this agent-runner cannot ask in the run's mode: then it is refused. */
  settings: modelSettingsSchema.nullable(),
  refusal: z.strictObject({ reason: runReasonSchema, message: z.string() }).nullable(),
})

/** Written before a request leaves. A sent attempt without response or fault was lost in a crash. */
export const sentEntrySchema = z.strictObject({
  at: z.iso.datetime(),
  hold_microusd: z.number().int(),
  /** The calls whose outputs this attempt carries, in the order in which it carries them. */
  delivers: z.array(z.string()),
  reminder: z.boolean(),
})

/** A request that works in the background: a crashed run fetches its result instead of paying again. */
export const backgroundEntrySchema = z.strictObject({ at: z.iso.datetime(), id: z.string().min(1) })

export const faultEntrySchema = z.strictObject({
  at: z.iso.datetime(),
  /** `final`: repeating it cannot help. */
  final: z.boolean(),
  /** False when the service certainly did no work for this attempt. */
  charged: z.boolean(),
  code: z.string(),
  message: z.string(),
  retry_after_ms: z.number().nullable(),
})

export const usageSchema = z.object({
  input_tokens: z.number().int().nonnegative(),
  cached_tokens: z.number().int().nonnegative(),
  cache_write_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  reasoning_tokens: z.number().int().nonnegative(),
})
export type Usage = z.infer<typeof usageSchema>

/** A tool call as the model made it. `async` is the item's own word, not the definition's. */
export const toolCallSchema = z.object({
  call_id: z.string().min(1),
  name: z.string(),
  arguments: z.string(),
  async: z.boolean(),
  completed: z.boolean(),
})
export type ToolCall = z.infer<typeof toolCallSchema>

export const responseEntrySchema = z.strictObject({
  at: z.iso.datetime(),
  attempt: z.number().int(),
  id: z.string(),
  status: z.enum(['completed', 'incomplete', 'failed']),
  /** Why it is incomplete or failed. */
  detail: z.string().nullable(),
  /** Why its output cannot be used at all, or null. */
  invalid: z.string().nullable(),
  calls: z.array(toolCallSchema),
  /** The items as the service sent them, for the transcript. */
  output: z.array(z.unknown()),
  text: z.string(),
  /** The tier that served the request, where the server says so. */
  service_tier: z.string().nullable().default(null),
  usage: usageSchema,
  cost_microusd: z.number().int(),
})
export type ResponseEntry = z.infer<typeof responseEntrySchema>

/** A call that became a flow of jobs. `tree` is the number of edits that it was started on. */
export const jobEntrySchema = z.strictObject({
  at: z.iso.datetime(),
  tree: z.number().int(),
  patch: z.string().nullable(),
})

/** An edit: the hashes of the file's text before and after. `after` names the object that holds it. */
export const editEntrySchema = z.strictObject({
  path: z.string(),
  before: z.string(),
  after: z.string(),
})

export const endEntrySchema = z.strictObject({
  at: z.iso.datetime(),
  status: runStatusSchema,
  reason: runReasonSchema,
  message: z.string(),
  final_text: z.string().nullable(),
})

export const markEntrySchema = z.strictObject({ at: z.iso.datetime(), message: z.string() })
export const outputEntrySchema = z.strictObject({ at: z.iso.datetime(), output: z.string() })

/** What a delivered job left in the run's inbox. */
export const inboxEntrySchema = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), value: z.unknown() }),
  z.strictObject({ ok: z.literal(false), error: z.string() }),
])
export type InboxEntry = z.infer<typeof inboxEntrySchema>

/** The results of a run's jobs, parsed by what was asked for. */
export const workResults = {
  baseline: baselineResultSchema,
  search: searchResultSchema,
  tests: testRunResultSchema,
  verify: verificationSchema,
  store: storeResultSchema,
} as const

export type WorkName = keyof typeof workResults
export type WorkOutcome<W extends WorkName> =
  | { ok: true; value: z.infer<(typeof workResults)[W]> }
  | { ok: false; error: string }
