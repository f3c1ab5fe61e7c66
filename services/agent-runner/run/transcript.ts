import { allCalls, BASELINE, currentVerification, responsesOf } from '../journal/conversation.ts'
import { attemptKey, callKey, type Journal } from '../journal/journal.ts'
import { inputItems } from '../model/request.ts'
import { outputOf } from '../tools/outputs.ts'

/** The run as JSON lines: what was sent, what came back, which request delivered which output. */
export function transcriptOf(journal: Journal): string {
  const lines: object[] = []
  const baseline = journal.inbox.get(BASELINE)
  if (baseline) lines.push({ type: 'baseline', result: baseline })
  const calls = new Map(allCalls(journal).map((call) => [callKey(call.call_id), call]))
  let previous: string | null = null
  for (const { request, response } of responsesOf(journal)) {
    const sent = journal.sent.get(attemptKey(request, response.attempt))
    if (!sent) continue
    const { delivers, reminder, at } = sent
    const step = {
      kind: 'request' as const,
      request,
      attempt: response.attempt,
      delivers,
      reminder,
    }
    const input = inputItems(journal, step)
    lines.push({ type: 'request', n: request, at, previous_response_id: previous, input })
    for (const key of delivers) {
      const call = calls.get(key)
      if (!call) continue
      const output = outputOf(journal, call)
      lines.push({ type: 'output', call_id: call.call_id, tool: call.name, output, request })
    }
    const { at: answered, id, status, output, service_tier, usage } = response
    lines.push({
      type: 'response',
      n: request,
      at: answered,
      id,
      status,
      output,
      service_tier,
      usage,
    })
    previous = id
  }
  const verification = currentVerification(journal)
  if (verification) lines.push({ type: 'verification', ...verification })
  if (journal.end) lines.push({ type: 'end', ...journal.end })
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
