import type { DetailsOf } from '../../../shared/contracts/run-event-details.ts'
import { allCalls, type PlacedCall } from './conversation.ts'
import type { ResponseEntry } from './entries.ts'
import { callKey, type Journal } from './journal.ts'

/** What the schema of an event has room for. */
const MAX_TEXT = 1000
const MAX_CALL_ID = 500

export const excerptOf = (text: string) => text.slice(0, MAX_TEXT)

/** The call that a key of the inbox belongs to; null for the runner's own work. */
export function callIdOf(key: string): string | null {
  const prefix = callKey('')
  return key.startsWith(prefix) ? key.slice(prefix.length).slice(0, MAX_CALL_ID) : null
}

export function requestDetails(
  journal: Journal,
  step: { request: number; attempt: number; delivers: string[]; reminder: boolean },
  hold_microusd: number,
): DetailsOf<'request'> {
  const tools = new Map(allCalls(journal).map((call) => [callKey(call.call_id), call.name]))
  const { request, attempt, reminder } = step
  const delivers = step.delivers.map((key) => ({
    call_id: callIdOf(key),
    tool: excerptOf(tools.get(key) ?? 'search_codebase_memory'),
  }))
  return { kind: 'request', request, attempt, hold_microusd, delivers, reminder }
}

export function responseDetails(
  { request, attempt }: { request: number; attempt: number },
  read: Pick<ResponseEntry, 'status' | 'calls' | 'text' | 'usage'>,
  cost_microusd: number,
): DetailsOf<'response'> {
  const { input_tokens, cached_tokens, output_tokens, reasoning_tokens } = read.usage
  return {
    kind: 'response',
    request,
    attempt,
    status: read.status,
    calls: read.calls.map((call) => ({
      call_id: call.call_id.slice(0, MAX_CALL_ID),
      tool: excerptOf(call.name),
      async: call.async,
    })),
    text: excerptOf(read.text),
    tokens: {
      input: input_tokens,
      cached_input: cached_tokens,
      output: output_tokens,
      reasoning: reasoning_tokens,
    },
    cost_microusd,
  }
}

/** `refusal`: why the call was answered with an error instead of being carried out. */
export function callDetails(
  call: PlacedCall,
  about: string,
  { waits, refusal }: Pick<DetailsOf<'call'>, 'waits' | 'refusal'>,
): DetailsOf<'call'> {
  return {
    kind: 'call',
    call_id: call.call_id.slice(0, MAX_CALL_ID),
    tool: excerptOf(call.name),
    request: call.request,
    about: excerptOf(about),
    waits,
    refusal: refusal && { code: excerptOf(refusal.code), message: excerptOf(refusal.message) },
  }
}
