import { z } from 'zod'
import { ApiError } from './api-error.ts'

const textPart = z.strictObject({
  type: z.enum(['input_text', 'output_text']),
  text: z.string(),
  annotations: z.array(z.unknown()).optional(),
  logprobs: z.array(z.unknown()).optional(),
  prompt_cache_breakpoint: z.unknown().optional(),
})
const refusalPart = z.strictObject({ type: z.literal('refusal'), refusal: z.string() })

/** A plain string stands for one text part. */
const asParts = (content: unknown) =>
  typeof content === 'string' ? [{ type: 'input_text', text: content }] : content

const itemStatus = z.enum(['in_progress', 'completed', 'incomplete']).nullish()

const messageItem = z.strictObject({
  type: z.literal('message'),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.preprocess(
    asParts,
    z.array(z.discriminatedUnion('type', [textPart, refusalPart])).min(1),
  ),
  id: z.string().nullish(),
  status: itemStatus,
  phase: z.enum(['commentary', 'final_answer']).nullish(),
})

const caller = z.looseObject({ type: z.enum(['direct', 'program']) }).nullish()

const functionCallItem = z.strictObject({
  type: z.literal('function_call'),
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
  id: z.string().nullish(),
  status: itemStatus,
  async: z.boolean().nullish(),
  caller,
  namespace: z.string().nullish(),
  created_by: z.string().nullish(),
})

const functionCallOutputItem = z.strictObject({
  type: z.literal('function_call_output'),
  call_id: z.string().min(1),
  output: z.preprocess(asParts, z.array(textPart)),
  id: z.string().nullish(),
  status: itemStatus,
  name: z.string().nullish(),
  namespace: z.string().nullish(),
  caller,
})

/** The stand-in makes none, but a caller that resends a whole conversation may hold some. */
const reasoningItem = z.looseObject({ type: z.literal('reasoning') })

const inputItemSchema = z.discriminatedUnion('type', [
  messageItem,
  functionCallItem,
  functionCallOutputItem,
  reasoningItem,
])
export type InputItem = z.output<typeof inputItemSchema>

function asItem(item: unknown): unknown {
  const untyped = typeof item === 'object' && item !== null && !('type' in item) && 'role' in item
  return untyped ? { type: 'message', ...item } : item
}

const asItems = (input: unknown) =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input

const functionTool = z.strictObject({
  type: z.literal('function'),
  name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  description: z.string().nullish(),
  parameters: z.looseObject({}).nullish(),
  strict: z.boolean().nullish(),
  async: z.boolean().optional(),
  allowed_callers: z.array(z.enum(['direct', 'programmatic'])).nullish(),
  defer_loading: z.boolean().optional(),
  output_schema: z.looseObject({}).nullish(),
})
export type FunctionTool = z.output<typeof functionTool>

const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 16, 'at most 16 keys')

/** The body of POST /v1/responses, as far as the stand-in can serve it; anything else is refused. */
const createRequestSchema = z.strictObject({
  model: z.string().min(1),
  input: z.preprocess(asItems, z.array(z.preprocess(asItem, inputItemSchema)).min(1)),
  instructions: z.string().nullish(),
  tools: z.array(functionTool).optional(),
  tool_choice: z.enum(['auto', 'none', 'required']).optional(),
  previous_response_id: z.string().nullish(),
  reasoning: z
    .strictObject({
      effort: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
      generate_summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    })
    .nullish(),
  text: z
    .strictObject({
      format: z.strictObject({ type: z.literal('text') }).optional(),
      verbosity: z.enum(['low', 'medium', 'high']).nullish(),
    })
    .optional(),
  max_output_tokens: z.int().min(16).nullish(),
  max_tool_calls: z.int().min(1).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z.enum(['in_memory', '24h']).nullish(),
  store: z.boolean().nullish(),
  service_tier: z.enum(['auto', 'default', 'flex', 'scale', 'priority']).nullish(),
  metadata: metadata.nullish(),
  background: z.boolean().nullish(),
  stream: z.literal(false).nullish(),
  include: z.array(z.string()).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  safety_identifier: z.string().nullish(),
  user: z.string().optional(),
})
export type CreateRequest = z.output<typeof createRequestSchema>

/** The parsed body. Throws ApiError 400 that names the first field that is wrong. */
export function parseCreateRequest(body: unknown): CreateRequest {
  const parsed = createRequestSchema.safeParse(body)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw issue ? badRequest(issue) : new ApiError(400, 'The request body could not be read.')
}

function badRequest(issue: z.core.$ZodIssue): ApiError {
  const at = paramName(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const param = paramName([...issue.path, issue.keys[0] ?? ''])
    return new ApiError(400, `Unknown parameter: '${param}'.`, { code: 'unknown_parameter', param })
  }
  if (issue.code === 'invalid_type' && issue.message.includes('received undefined')) {
    return new ApiError(400, `Missing required parameter: '${at}'.`, {
      code: 'missing_required_parameter',
      param: at,
    })
  }
  const code = issue.code === 'invalid_type' ? 'invalid_type' : 'invalid_value'
  const subject = at === '' ? 'the request body' : `'${at}'`
  return new ApiError(
    400,
    `Invalid value for ${subject}: ${issue.message} (refused by the local stand-in, which serves text and function tools, without streaming).`,
    at === '' ? { code } : { code, param: at },
  )
}

/** `input[2].call_id`, as the service writes it. */
function paramName(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
}
