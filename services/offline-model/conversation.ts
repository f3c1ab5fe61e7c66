import { ApiError } from './api-error.ts'
import type { InputItem } from './request-schema.ts'
import type { StoredResponse } from './responses-store.ts'

type Call = Extract<InputItem, { type: 'function_call' }>
type CallOutput = Extract<InputItem, { type: 'function_call_output' }>

/**
 * Everything that was said before `previousId` was answered, and that answer, oldest first.
 * Throws ApiError 404 when a response of the chain is not known (any more).
 */
export async function conversationUpTo(
  previousId: string | null,
  load: (id: string) => Promise<StoredResponse | null>,
): Promise<InputItem[]> {
  const turns: InputItem[][] = []
  let id = previousId
  while (id !== null) {
    const stored = await load(id)
    if (!stored) {
      throw new ApiError(404, `Previous response with id '${id}' not found.`, {
        code: 'previous_response_not_found',
        param: 'previous_response_id',
      })
    }
    turns.push([...stored.input, ...stored.output])
    id = stored.previous_response_id
  }
  return turns.reverse().flat()
}

/**
 * Throws ApiError 400 unless every output belongs to a call made before it, once, and every
 * ordinary call has its output. Async calls may stay open; calls cut off by a token limit are none.
 */
export function checkCalls(items: readonly InputItem[]): void {
  const calls = new Map<string, Call>()
  const answered = new Set<string>()
  for (const item of items) {
    if (item.type === 'function_call') addCall(item as Call, calls)
    if (item.type === 'function_call_output') addOutput(item as CallOutput, calls, answered)
  }
  for (const call of calls.values()) {
    const open = call.async !== true && call.status !== 'incomplete' && !answered.has(call.call_id)
    if (open) {
      throw badInput(`No tool output found for function call ${call.call_id}.`)
    }
  }
}

function addCall(call: Call, calls: Map<string, Call>): void {
  if (calls.has(call.call_id)) throw badInput(`Duplicate function call ${call.call_id}.`)
  calls.set(call.call_id, call)
}

function addOutput(
  output: CallOutput,
  calls: ReadonlyMap<string, Call>,
  answered: Set<string>,
): void {
  if (!calls.has(output.call_id)) {
    throw badInput(`No tool call found for function call output with call_id ${output.call_id}.`)
  }
  if (answered.has(output.call_id)) {
    throw badInput(`Duplicate function call output for call_id ${output.call_id}.`)
  }
  answered.add(output.call_id)
}

const badInput = (message: string) => new ApiError(400, message, { param: 'input' })
