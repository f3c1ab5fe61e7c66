import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { z } from 'zod'

/**
 * The body of POST /v1/responses, written from the API's reference and not from our code: what the
 * service takes of the fields that this system has a use for. Anything else is refused.
 */

const status = z.enum(['in_progress', 'completed', 'incomplete'])

const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() })
const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.never()),
  logprobs: z.array(z.never()).exactOptional(),
})
const refusal = z.strictObject({ type: z.literal('refusal'), refusal: z.string() })

const userMessage = z.strictObject({
  type: z.literal('message').exactOptional(),
  role: z.enum(['user', 'system', 'developer']),
  content: z.union([z.string().min(1), z.array(inputText).min(1)]),
})

/** An answer of the model that is said again. */
const assistantMessage = z.strictObject({
  type: z.literal('message'),
  id: z.string().min(1),
  role: z.literal('assistant'),
  status,
  content: z.array(z.discriminatedUnion('type', [outputText, refusal])).min(1),
  phase: z.enum(['commentary', 'final_answer']).nullable().exactOptional(),
})

const functionCall = z.strictObject({
  type: z.literal('function_call'),
  id: z.string().min(1).exactOptional(),
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
  status: status.exactOptional(),
  async: z.boolean().exactOptional(),
})

const functionCallOutput = z.strictObject({
  type: z.literal('function_call_output'),
  call_id: z.string().min(1),
  output: z.string().max(10_485_760),
})

const reasoning = z.strictObject({
  type: z.literal('reasoning'),
  id: z.string().min(1),
  summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
  content: z
    .array(z.strictObject({ type: z.literal('reasoning_text'), text: z.string() }))
    .exactOptional(),
  encrypted_content: z.string().nullable().exactOptional(),
  status: status.exactOptional(),
})

const inputItem = z.union([
  userMessage,
  assistantMessage,
  functionCall,
  functionCallOutput,
  reasoning,
])
export type WireItem = z.infer<typeof inputItem>

type Schema = Record<string, unknown>

/** Of JSON schema, what `strict: true` allows: closed objects, and nothing of the keywords below. */
const REFUSED_KEYWORDS = [
  'minLength',
  'maxLength',
  'uniqueItems',
  'oneOf',
  'allOf',
  'not',
  'default',
]

function strictProblem(schema: Schema, at = 'parameters'): string | null {
  const refused = REFUSED_KEYWORDS.find((keyword) => keyword in schema)
  if (refused) return `${at} uses ${refused}`
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  if (schema.type === 'object') {
    const required = new Set(schema.required as string[])
    if (schema.additionalProperties !== false) return `${at} is an open object`
    const missing = properties.find(([name]) => !required.has(name))
    if (missing) return `${at}.${missing[0]} is not required`
  }
  const inner = [
    ...properties,
    ...(schema.items ? [['items', schema.items as Schema] as const] : []),
  ]
  return inner.map(([name, each]) => strictProblem(each, `${at}.${name}`)).find(Boolean) ?? null
}

const functionTool = z
  .strictObject({
    type: z.literal('function'),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    description: z.string().min(1).exactOptional(),
    parameters: z.record(z.string(), z.unknown()),
    strict: z.boolean(),
    async: z.boolean().exactOptional(),
  })
  .superRefine((tool, context) => {
    const problem = tool.strict ? strictProblem(tool.parameters) : null
    if (problem) context.addIssue({ code: 'custom', message: `${tool.name}: ${problem}` })
  })

const wireSchema = z
  .strictObject({
    model: z.string().min(1),
    instructions: z.string().min(1),
    input: z.array(inputItem).min(1),
    tools: z
      .array(functionTool)
      .min(1)
      .refine(
        (tools) => new Set(tools.map(({ name }) => name)).size === tools.length,
        'names differ',
      ),
    parallel_tool_calls: z.boolean(),
    reasoning: z.strictObject({ effort: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']) }),
    text: z.strictObject({ verbosity: z.enum(['low', 'medium', 'high']) }),
    max_output_tokens: z.int().min(16).max(128_000),
    prompt_cache_key: z.string().min(1).max(64),
    previous_response_id: z.string().min(1).exactOptional(),
    store: z.boolean().exactOptional(),
    include: z.array(z.literal('reasoning.encrypted_content')).exactOptional(),
    service_tier: z.enum(['auto', 'default', 'flex', 'priority']).exactOptional(),
    background: z.boolean().exactOptional(),
  })
  .refine(
    (body) => body.previous_response_id === undefined || body.store !== false,
    'a response that continues another has to be kept',
  )
  .refine((body) => !body.background || body.store !== false, 'background responses are kept')

export type WireBody = z.infer<typeof wireSchema>

/**
 * The body, when the service would take it. `satisfies` holds the schema to the official client's own
 * types: it lets nothing through that they do not know.
 */
export function parseWire(body: unknown): WireBody {
  return wireSchema.parse(body) satisfies ResponseCreateParamsNonStreaming
}
