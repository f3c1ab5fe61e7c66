import { randomBytes } from 'node:crypto'
import { type Item, type Output, parseObject, type Tool } from './repair/items.ts'
import type { FunctionTool, InputItem } from './request-schema.ts'
import { itemTokens } from './usage.ts'

const newId = (prefix: string) => `${prefix}_${randomBytes(16).toString('hex')}`

/** Protocol items as the repair program reads them; calls that were cut off are left out. */
export function toRepairItems(items: readonly InputItem[]): Item[] {
  return items.flatMap((item): Item[] => {
    switch (item.type) {
      case 'message': {
        const text = item.content.map((part) => ('text' in part ? part.text : part.refusal))
        return [{ type: 'message', role: item.role, text: text.join('\n') }]
      }
      case 'function_call': {
        if (item.status === 'incomplete') return []
        const args = parseObject(item.arguments) ?? {}
        const async = item.async === true
        return [{ type: 'call', callId: item.call_id, name: item.name, args, async }]
      }
      case 'function_call_output': {
        const text = item.output.map((part) => part.text).join('\n')
        return [{ type: 'output', callId: item.call_id, text }]
      }
      default:
        return []
    }
  })
}

export function toRepairTools(tools: readonly FunctionTool[]): Tool[] {
  return tools.map((tool) => ({
    name: tool.name,
    async: tool.async === true,
    parameters: tool.parameters ?? null,
  }))
}

/** Protocol items, with new ids, of what the repair program said. */
export function toOutputItems(outputs: readonly Output[], tools: readonly Tool[]): InputItem[] {
  return outputs.map((output): InputItem => {
    if (output.type === 'message') {
      return {
        type: 'message',
        id: newId('msg'),
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: output.text, annotations: [], logprobs: [] }],
      }
    }
    const async = tools.find((tool) => tool.name === output.name)?.async === true
    return {
      type: 'function_call',
      id: newId('fc'),
      call_id: newId('call'),
      name: output.name,
      arguments: JSON.stringify(output.args),
      status: 'completed',
      ...(async ? { async } : {}),
    }
  })
}

/**
 * The items that fit into `limit` tokens. The first that does not is kept with status `incomplete`
 * and without its content, as a sign of where the answer was cut; the rest is dropped.
 */
export function cutAt(
  limit: number | null,
  items: readonly InputItem[],
): { items: InputItem[]; cut: boolean } {
  if (limit === null) return { items: [...items], cut: false }
  const kept: InputItem[] = []
  let used = 0
  for (const item of items) {
    used += itemTokens(item)
    if (used > limit) return { items: [...kept, emptied(item)], cut: true }
    kept.push(item)
  }
  return { items: kept, cut: false }
}

function emptied(item: InputItem): InputItem {
  if (item.type === 'function_call') return { ...item, arguments: '', status: 'incomplete' }
  if (item.type !== 'message') return item
  const content = [{ type: 'output_text' as const, text: '', annotations: [], logprobs: [] }]
  return { ...item, status: 'incomplete', content }
}
