import { z } from 'zod'
import type { ResponseEntry, ToolCall, Usage } from '../journal/entries.ts'

/** Kept as it came, down to the order of its fields: reasoning may have to be given back unmodified. */
const outputItem = z.custom<{ type: string }>(
  (item) =>
    typeof item === 'object' && item !== null && 'type' in item && typeof item.type === 'string',
  'an output item has no type',
)

/** What is read of a response. Servers differ in the rest, so the rest is not asked for. */
const responseSchema = z.looseObject({
  id: z.string().min(1),
  status: z.string().nullish(),
  output: z.array(outputItem),
  error: z.looseObject({ message: z.string() }).nullish(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  service_tier: z.string().nullish().catch(null),
  previous_response_id: z.unknown().optional(),
  usage: z
    .looseObject({
      input_tokens: z.number().int().nonnegative(),
      output_tokens: z.number().int().nonnegative(),
      input_tokens_details: z
        .looseObject({
          cached_tokens: z.number().nullish(),
          cache_write_tokens: z.number().nullish(),
        })
        .nullish(),
      output_tokens_details: z.looseObject({ reasoning_tokens: z.number().nullish() }).nullish(),
    })
    .nullish(),
})

const callSchema = z.looseObject({
  type: z.literal('function_call'),
  call_id: z.string().min(1),
  name: z.string(),
  arguments: z.string(),
  async: z.boolean().nullish(),
  status: z.string().nullish(),
})

const messageSchema = z.looseObject({
  type: z.literal('message'),
  content: z.array(z.looseObject({ text: z.string().optional(), refusal: z.string().optional() })),
})

type ReadResponse = Omit<ResponseEntry, 'at' | 'attempt' | 'cost_microusd'>

/**
 * A response as the journal keeps it. Never throws: what cannot be used is named in `invalid`, so
 * that a paid answer is journalled whatever it holds. `known`: the call ids of the run so far.
 * `previous`: the response that the request asked to go on from, or null.
 */
export function readResponse(
  raw: unknown,
  known: ReadonlySet<string>,
  previous: string | null = null,
): ReadResponse {
  const parsed = responseSchema.safeParse(raw)
  if (!parsed.success) {
    return unusable(`the response is malformed: ${z.prettifyError(parsed.error)}`)
  }
  const { data } = parsed
  const items = readItems(data.output, known)
  const status = readStatus(data.status)
  const detail = data.error?.message ?? data.incomplete_details?.reason ?? null
  return {
    id: data.id,
    status,
    detail: detail ?? (data.status === 'cancelled' ? 'the response was cancelled' : null),
    invalid:
      brokenChain(data.previous_response_id, previous) ??
      items.invalid ??
      emptiness(data.output.length, status),
    calls: items.calls,
    output: data.output,
    text: items.text,
    service_tier: data.service_tier ?? null,
    usage: readUsage(data.usage),
  }
}

/** A background response that somebody cancelled holds no answer either. */
function readStatus(status: string | null | undefined): ResponseEntry['status'] {
  if (status === 'cancelled') return 'failed'
  return status === 'failed' || status === 'incomplete' ? status : 'completed'
}

function readItems(output: { type: string }[], known: ReadonlySet<string>) {
  const calls: ToolCall[] = []
  const texts: string[] = []
  const seen = new Set(known)
  for (const item of output) {
    if (item.type === 'message') texts.push(readText(item))
    if (item.type !== 'function_call') continue
    const call = callSchema.safeParse(item)
    if (!call.success) {
      return {
        calls: [],
        text: '',
        invalid: `a tool call is malformed: ${z.prettifyError(call.error)}`,
      }
    }
    if (seen.has(call.data.call_id)) {
      return { calls: [], text: '', invalid: `the call id ${call.data.call_id} was used twice` }
    }
    seen.add(call.data.call_id)
    calls.push(readCall(call.data))
  }
  return { calls, text: texts.join('\n').trim(), invalid: null }
}

function readCall(item: z.infer<typeof callSchema>): ToolCall {
  return {
    call_id: item.call_id,
    name: item.name,
    arguments: item.arguments,
    // The item's own word counts: a server without async tools leaves it out. No other tool of ours
    // may be left unanswered, whatever a server says.
    async: item.async === true && item.name === 'search_codebase_memory',
    // Some servers leave the status null on a finished call.
    completed: item.status == null || item.status === 'completed',
  }
}

function readText(item: unknown): string {
  const message = messageSchema.safeParse(item)
  if (!message.success) return ''
  return message.data.content.map((part) => part.text ?? part.refusal ?? '').join('')
}

function readUsage(usage: z.infer<typeof responseSchema>['usage']): Usage {
  return {
    input_tokens: usage?.input_tokens ?? 0,
    cached_tokens: usage?.input_tokens_details?.cached_tokens ?? 0,
    cache_write_tokens: usage?.input_tokens_details?.cache_write_tokens ?? 0,
    output_tokens: usage?.output_tokens ?? 0,
    reasoning_tokens: usage?.output_tokens_details?.reasoning_tokens ?? 0,
  }
}

/**
 * A server that keeps no chain passes over the id that it was given, and answers as if nothing had
 * been said before: such a run would go round in circles.
 */
function brokenChain(echoed: unknown, previous: string | null): string | null {
  if (previous === null || echoed !== null) return null
  return `the server did not go on from ${previous}: it keeps no chain, so set ASTRA_CHAIN=resend`
}

function emptiness(items: number, status: string): string | null {
  return items === 0 && status === 'completed' ? 'the response holds no output' : null
}

function unusable(invalid: string): ReadResponse {
  const usage = readUsage(null)
  return {
    id: 'unknown',
    status: 'completed',
    detail: null,
    invalid,
    calls: [],
    output: [],
    text: '',
    service_tier: null,
    usage,
  }
}
