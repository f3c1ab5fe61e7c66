import type { ToolCall } from '../../services/agent-runner/journal/entries.ts'

/**
 * The output items of a response that said `text` and made `calls`, as the service writes them: it
 * thinks first, and its thoughts come encrypted.
 */
export function responseItems(
  request: number,
  said: { calls?: readonly ToolCall[]; text?: string },
): Record<string, unknown>[] {
  const items: Record<string, unknown>[] = [
    {
      type: 'reasoning',
      id: `rs_${request}`,
      summary: [],
      encrypted_content: Buffer.from(`thought ${request}`).toString('base64'),
    },
  ]
  for (const [index, call] of (said.calls ?? []).entries()) {
    items.push({
      type: 'function_call',
      id: `fc_${request}_${index}`,
      call_id: call.call_id,
      name: call.name,
      arguments: call.arguments,
      status: call.completed ? 'completed' : 'incomplete',
      ...(call.async ? { async: true } : {}),
    })
  }
  if (said.text) {
    items.push({
      type: 'message',
      id: `msg_${request}`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: said.text, annotations: [], logprobs: [] }],
    })
  }
  return items
}
