/** Finding where expressions begin and end, on code whose strings and comments are blanked out. */

const closers: Record<string, string> = { '(': ')', '[': ']', '{': '}' }
const openers: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** The offset of the bracket that closes the one at `open`, or -1. */
export function closingBracket(code: string, open: number): number {
  let depth = 0
  for (let at = open; at < code.length; at += 1) {
    const char = code.charAt(at)
    if (char in closers) depth += 1
    else if (char in openers) {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return -1
}

function openingBracket(code: string, close: number): number {
  let depth = 0
  for (let at = close; at >= 0; at -= 1) {
    const char = code.charAt(at)
    if (char in openers) depth += 1
    else if (char in closers) {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return -1
}

const isWord = (char: string) => /[\w$]/.test(char)

/** Where the expression that ends before `end` begins: names, calls, indexes, literals, dots. */
export function receiverStart(code: string, end: number): number {
  let at = end
  for (;;) {
    const start = primaryStart(code, at)
    if (start < 0) return at
    at = start
    const dot = /(?:\?\.|\.)$/.exec(code.slice(Math.max(0, at - 2), at))
    if (dot && at === start) {
      at -= dot[0].length
      continue
    }
    const glued = isWord(code.charAt(at - 1)) || ')]'.includes(code.charAt(at - 1) || ' ')
    if (!glued || !'(['.includes(code.charAt(at))) return at
  }
}

/** The start of the name, bracket group or string literal that ends before `end`, or -1. */
function primaryStart(code: string, end: number): number {
  const last = code.charAt(end - 1)
  if (last === ')' || last === ']') return openingBracket(code, end - 1)
  if (last === '"' || last === "'" || last === '`') return code.lastIndexOf(last, end - 2)
  let at = end
  while (at > 0 && isWord(code.charAt(at - 1))) at -= 1
  return at === end ? -1 : at
}

/** The parts of `text` between commas that are outside brackets and strings, trimmed. */
export function splitArguments(text: string, code: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at <= code.length; at += 1) {
    const char = code.charAt(at)
    if (char in closers) depth += 1
    else if (char in openers) depth -= 1
    if (at === code.length || (char === ',' && depth === 0)) {
      parts.push(text.slice(from, at).trim())
      from = at + 1
    }
  }
  return parts.length === 1 && parts[0] === '' ? [] : parts
}

/** True when the text can stand after an operator or before a dot without brackets. */
export function isSimple(expression: string): boolean {
  return /^[\w$.[\]'"]+(?:\([^()]*\))?$/.test(expression)
}
