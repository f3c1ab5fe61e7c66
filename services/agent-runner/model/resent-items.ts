import type { ResponseInputItem } from 'openai/resources/responses/responses'

/**
 * The items of a response as a server without a chain wants them back: all of them, in order, as
 * they came. Reasoning items are not touched at all, because their `encrypted_content` is refused
 * when anything of the item was changed. Ids stay too: with `store: false` the service reads the
 * item that stands here and looks nothing up, and reasoning is tied to what follows it by id.
 */
export function resentItems(output: readonly unknown[]): ResponseInputItem[] {
  return output.map((item) => (isOwnWords(item) ? withoutNulls(item) : item)).filter(isItem)
}

/** What the journal holds was an output item; the input items of the API are a superset of those. */
function isItem(item: unknown): item is ResponseInputItem {
  return typeof item === 'object' && item !== null && 'type' in item
}

function isOwnWords(item: unknown): boolean {
  return isItem(item) && (item.type === 'function_call' || item.type === 'message')
}

/**
 * Servers in Python write each unset field as null (`status`, `namespace`, `logprobs`), and their
 * own requests do not take those nulls. Null says no more than absence does.
 */
function withoutNulls(item: unknown): unknown {
  return JSON.parse(JSON.stringify(item, (_key, value) => (value === null ? undefined : value)))
}
