/** A conversation as the repair program sees it: who said, called and answered what, in order. */
export type Item =
  | { type: 'message'; role: 'user' | 'assistant' | 'system' | 'developer'; text: string }
  | { type: 'call'; callId: string; name: string; args: Record<string, unknown>; async: boolean }
  | { type: 'output'; callId: string; text: string }

export type Tool = { name: string; async: boolean; parameters: unknown }

/** What the program says next: calls, or one final message. */
export type Output =
  | { type: 'message'; text: string }
  | { type: 'call'; name: string; args: Record<string, unknown> }

/** The JSON object in `text`, or null when it holds anything else. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
