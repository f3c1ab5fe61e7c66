import type {
  ResponseCreateParamsNonStreaming,
  ResponseIncludable,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import {
  allCalls,
  BASELINE,
  outcomeOf,
  PREFETCH,
  responsesOf,
  responseTo,
} from '../journal/conversation.ts'
import type { ModelSettings } from '../journal/entries.ts'
import { attemptKey, callKey, type Journal } from '../journal/journal.ts'
import type { Step } from '../journal/next-step.ts'
import { toolDefinitions } from '../tools/definitions.ts'
import { outputOf, searchOutput } from '../tools/outputs.ts'
import { firstMessage, GATE_REMINDER, INSTRUCTIONS } from './prompts.ts'
import { resentItems } from './resent-items.ts'

export type RequestStep = Extract<Step, { kind: 'request' }>

/** The body of a request, from the journal alone: a replay of the same step builds the same body. */
export function requestBody(
  journal: Journal,
  step: RequestStep,
  settings: ModelSettings,
): ResponseCreateParamsNonStreaming {
  if (!journal.start) throw new Error('a run that has not started has no request')
  const { request } = journal.start
  return {
    model: settings.model,
    instructions: INSTRUCTIONS,
    tools: toolDefinitions(redBaseline(journal).commands),
    parallel_tool_calls: true,
    reasoning: { effort: settings.effort },
    text: { verbosity: 'low' },
    max_output_tokens: request.limits.max_output_tokens,
    prompt_cache_key: request.run_id,
    ...(settings.tier ? { service_tier: settings.tier } : {}),
    ...(settings.chain === 'resend' ? resent(journal, step) : chained(journal, step)),
  }
}

function chained(journal: Journal, step: RequestStep) {
  const previous = responseTo(journal, step.request - 1)
  const input = inputItems(journal, step)
  return previous ? { input, previous_response_id: previous.id } : { input }
}

/**
 * The whole conversation. Nothing of it is to be kept by the server, which therefore has to hand out
 * its reasoning in a form that can be given back.
 */
function resent(journal: Journal, step: RequestStep) {
  const before = responsesOf(journal).filter(({ request }) => request < step.request)
  const include: ResponseIncludable[] = ['reasoning.encrypted_content']
  const input = before.flatMap(({ request, response }) => [
    ...inputItems(journal, answeredStep(journal, request, response.attempt)),
    ...resentItems(response.output),
  ])
  return { input: [...input, ...inputItems(journal, step)], store: false, include }
}

/** The attempt of that request that was answered: what it carried is what the model has seen. */
function answeredStep(journal: Journal, request: number, attempt: number): RequestStep {
  const sent = journal.sent.get(attemptKey(request, attempt))
  if (!sent) throw new Error(`request ${request} has a response but was not sent`)
  const { delivers, reminder } = sent
  return { kind: 'request', request, attempt, delivers, reminder }
}

/** What this request adds to the conversation. */
export function inputItems(journal: Journal, step: RequestStep): ResponseInputItem[] {
  if (step.request === 1) return [userMessage(firstText(journal, step))]
  if (step.reminder) return [userMessage(GATE_REMINDER)]
  const calls = new Map(allCalls(journal).map((call) => [callKey(call.call_id), call]))
  return step.delivers.map((key) => {
    const call = calls.get(key)
    if (!call) throw new Error(`no call ${key} to deliver to`)
    return { type: 'function_call_output', call_id: call.call_id, output: outputOf(journal, call) }
  })
}

function userMessage(text: string): ResponseInputItem {
  return { type: 'message', role: 'user', content: text }
}

function firstText(journal: Journal, step: RequestStep): string {
  const prompt = journal.start?.request.prompt ?? ''
  const memory = step.delivers.includes(PREFETCH) ? searchOutput(journal, PREFETCH) : null
  return firstMessage(prompt, redBaseline(journal), memory)
}

/** The baseline of a run that has something to repair. */
export function redBaseline(journal: Journal) {
  const baseline = outcomeOf(journal, BASELINE, 'baseline')
  if (!baseline?.ok || baseline.value.kind !== 'red') throw new Error('the baseline is not red')
  return baseline.value
}
