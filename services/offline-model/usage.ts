import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import type { CreateRequest, InputItem } from './request-schema.ts'

/**
 * The encoder's time grows with the square of an unbroken run of letters, so long texts are counted
 * in pieces. A cut may add a token to the piece.
 */
const PIECE = 2_000
/** Role and separators of an item. */
const TOKENS_PER_ITEM = 4

export type Usage = {
  input_tokens: number
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number }
  output_tokens: number
  output_tokens_details: { reasoning_tokens: number }
  total_tokens: number
}

/** Tokens of a text by the o200k encoding. Special tokens in it count as ordinary text. */
export function tokensOf(text: string): number {
  let total = 0
  for (let at = 0; at < text.length; at += PIECE) {
    total += countTokens(text.slice(at, at + PIECE), { disallowedSpecial: new Set() })
  }
  return total
}

/** Tokens of an item: an approximation, because the service's own rendering is not public. */
export function itemTokens(item: InputItem): number {
  if (item.type === 'function_call') {
    return TOKENS_PER_ITEM + tokensOf(`${item.name}${item.arguments}`)
  }
  if (item.type === 'function_call_output') {
    return TOKENS_PER_ITEM + sum((item.output as { text: string }[]).map((part) => part.text))
  }
  if (item.type === 'message') {
    const parts = item.content as ({ text: string } | { refusal: string })[]
    return TOKENS_PER_ITEM + sum(parts.map((part) => ('text' in part ? part.text : part.refusal)))
  }
  return TOKENS_PER_ITEM + tokensOf(JSON.stringify(item))
}

const sum = (texts: string[]) => texts.reduce((total, text) => total + tokensOf(text), 0)

/**
 * What the request would have been charged for. The prefix up to the model's latest output was part
 * of an earlier request, so it counts as cached.
 */
export function countUsage(
  request: Pick<CreateRequest, 'instructions' | 'tools'>,
  conversation: readonly InputItem[],
  output: readonly InputItem[],
): Usage {
  const fixed =
    tokensOf(request.instructions ?? '') +
    (request.tools?.length ? tokensOf(JSON.stringify(request.tools)) : 0)
  const sizes = conversation.map(itemTokens)
  const seen = conversation.findLastIndex(isModelOutput) + 1
  const total = (items: number[]) => items.reduce((sum, size) => sum + size, 0)
  const input = fixed + total(sizes)
  const made = total(output.map(itemTokens))
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: seen === 0 ? 0 : fixed + total(sizes.slice(0, seen)),
      cache_write_tokens: 0,
    },
    output_tokens: made,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + made,
  }
}

function isModelOutput(item: InputItem): boolean {
  return item.type === 'function_call' || (item.type === 'message' && item.role === 'assistant')
}
