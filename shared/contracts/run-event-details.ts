import { z } from 'zod'
import { provedRunSchema, receiptBodySchema } from './receipt.ts'
import { runLimitsSchema, runReasonSchema, runStatusSchema } from './run.ts'
import { unprovedReasonSchema } from './tests.ts'

const count = z.number().int().nonnegative()
/** Texts of models, tests and records are cut: an event is a line in a list, not their copy. */
const excerpt = z.string().max(1000)
const callId = z.string().max(500)

const started = z.strictObject({ kind: z.literal('started'), limits: runLimitsSchema })

const request = z.strictObject({
  kind: z.literal('request'),
  request: count,
  attempt: count,
  hold_microusd: count,
  /** The calls whose outputs it carries; null: the runner's own search. */
  delivers: z.array(z.strictObject({ call_id: callId.nullable(), tool: excerpt })),
  /** It says that the memory has to be asked first: the model had answered too early. */
  reminder: z.boolean(),
})

const response = z.strictObject({
  kind: z.literal('response'),
  request: count,
  attempt: count,
  status: z.enum(['completed', 'incomplete', 'failed']),
  calls: z.array(z.strictObject({ call_id: callId, tool: excerpt, async: z.boolean() })),
  text: excerpt,
  tokens: z.strictObject({ input: count, cached_input: count, output: count, reasoning: count }),
  cost_microusd: count,
})

/** An attempt that brought no answer. */
const fault = z.strictObject({
  kind: z.literal('fault'),
  request: count,
  attempt: count,
  code: excerpt,
  final: z.boolean(),
  cost_microusd: count,
})

/** Something was done about a call: it was answered, or became a job whose result comes later. */
const call = z.strictObject({
  kind: z.literal('call'),
  call_id: callId,
  tool: excerpt,
  request: count,
  /** The argument that says most. */
  about: excerpt,
  waits: z.boolean(),
  refusal: z.strictObject({ code: excerpt, message: excerpt }).nullable(),
})

/** What a receipt says; the receipt itself is in the run's transcript and in the stored record. */
const receiptSummarySchema = z.strictObject({
  key_id: z.string(),
  ...receiptBodySchema.pick({
    mode: true,
    scope: true,
    runner: true,
    patch: true,
    target_count: true,
    sandboxed: true,
    finished_at: true,
  }).shape,
  canaries: count,
  flaky: count,
  results: z.strictObject({
    b1: provedRunSchema,
    p1: provedRunSchema,
    b2: provedRunSchema,
    p2: provedRunSchema,
  }),
})
export type ReceiptSummary = z.infer<typeof receiptSummarySchema>

const proof = z.strictObject({
  confirmed: z.boolean(),
  reason: unprovedReasonSchema.nullable(),
  message: excerpt,
  failing_before: count,
  passing_after: count,
  receipt: receiptSummarySchema.nullable(),
})

const tests = z.strictObject({
  kind: z.literal('tests'),
  /** `verify`: the runner's own, at a final answer. */
  purpose: z.enum(['baseline', 'run', 'verify']),
  /** Null: the runner asked for it. */
  call_id: callId.nullable(),
  /** Of the tests; null for a verification, which has a proof only, and where nothing came of it. */
  verdict: z.enum(['red', 'green', 'unusable']).nullable(),
  command: excerpt,
  passed: count,
  failed: count,
  /** The first of them. */
  failing: z.array(excerpt).max(20),
  /** Why the tests gave no verdict, or what they failed with. */
  message: excerpt,
  proof: proof.nullable(),
})

const search = z.strictObject({
  kind: z.literal('search'),
  call_id: callId.nullable(),
  answer: z.enum(['same', 'similar', 'none', 'unavailable']),
  /** Why nothing was shared, or why the memory is unavailable. */
  message: excerpt,
  searched: count,
  matches: z
    .array(
      z.strictObject({
        memory_id: z.string(),
        score: z.number(),
        relevance: z.enum(['same', 'similar']),
        probability: z.number(),
        proved: z.boolean(),
        stale: z.boolean(),
        fix: excerpt,
      }),
    )
    .max(10),
})

const store = z.strictObject({
  kind: z.literal('store'),
  call_id: callId,
  memory_id: z.string().nullable(),
  waiting: z.boolean(),
  refusal: excerpt.nullable(),
})

/** A job is not there any more, so the run was told this in place of its result. */
const lost = z.strictObject({
  kind: z.literal('lost'),
  /** Null: the runner's own work. */
  call_id: callId.nullable(),
  message: excerpt,
})

const ended = z.strictObject({
  kind: z.literal('ended'),
  status: runStatusSchema,
  reason: runReasonSchema,
})

/** What programs need of an event. Events of earlier versions have a text only. */
export const runEventDetailsSchema = z.discriminatedUnion('kind', [
  started,
  request,
  response,
  fault,
  call,
  tests,
  search,
  store,
  lost,
  ended,
])
export type RunEventDetails = z.infer<typeof runEventDetailsSchema>
/** The details of one kind. */
export type DetailsOf<K extends RunEventDetails['kind']> = Extract<RunEventDetails, { kind: K }>
