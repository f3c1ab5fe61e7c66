import type { Logger } from '../../shared/logger.ts'
import { ApiError } from './api-error.ts'
import { BACKGROUND_MS, isUnderWay, unfinished } from './background.ts'
import { checkCalls, conversationUpTo } from './conversation.ts'
import { cutAt, toOutputItems, toRepairItems, toRepairTools } from './output-items.ts'
import { nextOutput } from './repair/next-output.ts'
import { type CreateRequest, type InputItem, parseCreateRequest } from './request-schema.ts'
import type { ResponsesStore } from './responses-store.ts'
import { STAND_IN_MODEL, STAND_IN_NOTICE, standInMetadata } from './stand-in.ts'
import { countUsage } from './usage.ts'

export type Deps = { store: ResponsesStore; log: Logger; now: () => Date }

/** POST /v1/responses: answers a request body. Throws ApiError for what the service would refuse. */
export async function createResponse(
  body: unknown,
  { store, log, now }: Deps,
): Promise<Record<string, unknown>> {
  const started = performance.now()
  const request = parseCreateRequest(body)
  refuseRequiredTools(request)
  const inBackground = request.background === true
  if (inBackground && request.store === false) {
    throw new ApiError(400, 'Background responses need to be stored.', { param: 'store' })
  }
  const previousId = request.previous_response_id ?? null
  const before = await conversationUpTo(previousId, (id) => loadFinished(id, store, now()))
  const conversation = [...before, ...request.input]
  checkCalls(conversation)

  const { items, cut } = answer(request, conversation)
  const createdAt = now()
  const id = store.newId(createdAt)
  const readyAt = inBackground ? createdAt.getTime() + BACKGROUND_MS : null
  const response = {
    ...responseBody(request, items, cut),
    id,
    created_at: Math.floor(createdAt.getTime() / 1000),
    completed_at: cut ? null : Math.floor((readyAt ?? now().getTime()) / 1000),
    previous_response_id: previousId,
    usage: countUsage(request, conversation, items),
  }
  if (request.store !== false) {
    await store.save(id, {
      previous_response_id: previousId,
      input: request.input,
      output: items,
      body: response,
      ready_at: readyAt,
    })
  }
  const calls = items.flatMap((item) => (item.type === 'function_call' ? [item.name] : []))
  const ms = Math.round(performance.now() - started)
  log.info({ id, previousId, calls, ms }, 'answered by the local stand-in, not Astra')
  return inBackground ? unfinished(response, 'queued') : response
}

/** A response that is under way has nothing to go on from. */
async function loadFinished(id: string, store: ResponsesStore, now: Date) {
  const stored = await store.load(id)
  if (!stored || !isUnderWay(stored, now)) return stored
  throw new ApiError(400, `Response with id '${id}' is still in progress.`, {
    param: 'previous_response_id',
  })
}

function answer(request: CreateRequest, conversation: readonly InputItem[]) {
  const tools = request.tool_choice === 'none' ? [] : toRepairTools(request.tools ?? [])
  const said = nextOutput(toRepairItems(conversation), tools)
  const allowed = request.parallel_tool_calls === false ? said.slice(0, 1) : said
  return cutAt(request.max_output_tokens ?? null, toOutputItems(allowed, tools))
}

/** `required` cannot be kept: after its last step the program has nothing left to call. */
function refuseRequiredTools(request: CreateRequest): void {
  if (request.tool_choice !== 'required') return
  throw new ApiError(400, `tool_choice 'required' is not supported. ${STAND_IN_NOTICE}`, {
    code: 'unsupported_value',
    param: 'tool_choice',
  })
}

function responseBody(request: CreateRequest, items: readonly InputItem[], cut: boolean) {
  return {
    object: 'response',
    status: cut ? 'incomplete' : 'completed',
    background: request.background === true,
    error: null,
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: { ...request.metadata, ...standInMetadata },
    model: STAND_IN_MODEL,
    output: items,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: 'default',
    store: request.store !== false,
    temperature: null,
    text: { format: { type: 'text' }, verbosity: request.text?.verbosity ?? 'medium' },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_logprobs: 0,
    top_p: null,
    truncation: request.truncation ?? 'disabled',
    user: request.user ?? null,
  }
}
