import { closingBracket } from './expressions.ts'
import type { Source } from './source.ts'

/** A named function of a file: offsets of its first character and of the one after its last. */
export type FunctionRange = { name: string; start: number; end: number; isAsync: boolean }

export function functionsOf(source: Source): FunctionRange[] {
  return source.language === 'python' ? pythonFunctions(source.code) : scriptFunctions(source.code)
}

/** The innermost function around an offset. */
export function functionAt(
  functions: readonly FunctionRange[],
  offset: number,
): FunctionRange | null {
  const around = functions.filter((each) => each.start <= offset && offset < each.end)
  return around.sort((a, b) => a.end - a.start - (b.end - b.start))[0] ?? null
}

function pythonFunctions(code: string): FunctionRange[] {
  const found = code.matchAll(/^([ \t]*)(async[ \t]+)?def[ \t]+(\w+)/gm)
  return [...found].map((match) => ({
    name: match[3] ?? '',
    start: match.index,
    end: pythonBlockEnd(code, match.index, (match[1] ?? '').length),
    isAsync: match[2] !== undefined,
  }))
}

/** The block ends before the next line that is not deeper than its header. */
function pythonBlockEnd(code: string, start: number, indent: number): number {
  const body = /:[ \t]*\n/.exec(code.slice(start))
  const from = body ? start + body.index + body[0].length : start
  const next = new RegExp(`^[ \\t]{0,${indent}}\\S`, 'm').exec(code.slice(from))
  return next ? from + next.index : code.length
}

const scriptHeader =
  /\b(async\s+)?function\s*\*?\s*(\w+)\s*(?:<[^>]*>)?\(|\b(\w+)\s*(?::[^=;\n]+)?[:=]\s*(async\s*)?(?:function\s*\*?\s*)?(?:\(|\w+\s*=>)|^[ \t]+(?:(?:public|private|protected|static|override|get|set)\s+)*(async\s+)?\*?#?(\w+)\s*(?:<[^>]*>)?\(/gm
const notNames = new Set(['if', 'for', 'while', 'switch', 'catch', 'return', 'function', 'super'])

function scriptFunctions(code: string): FunctionRange[] {
  return [...code.matchAll(scriptHeader)].flatMap((match) => {
    const name = match[2] ?? match[3] ?? match[6] ?? ''
    if (name === '' || notNames.has(name)) return []
    const isAsync = (match[1] ?? match[4] ?? match[5]) !== undefined
    const end = scriptBodyEnd(code, match.index + match[0].length)
    return end === null ? [] : [{ name, start: match.index, end, isAsync }]
  })
}

/** `headerEnd` is just after the opening bracket of the parameters, or after `x =>`. */
function scriptBodyEnd(code: string, headerEnd: number): number | null {
  const bracketed = code.charAt(headerEnd - 1) === '('
  const close = bracketed ? closingBracket(code, headerEnd - 1) + 1 : headerEnd
  if (close === 0) return null
  const intro = bracketed
    ? /^\s*(?::[^{};=]+(?:\{[^{}]*\}(?=[^{};=\n]*(?:=>|\{))[^{};=]*)?)?(=>)?\s*/
    : /^\s*/
  const arrow = intro.exec(code.slice(close))
  const bodyStart = close + (arrow?.[0].length ?? 0)
  if (code.charAt(bodyStart) === '{') {
    const end = closingBracket(code, bodyStart)
    return end < 0 ? null : end + 1
  }
  if (bracketed && arrow?.[1] === undefined) return null
  const line = /^(?:[^\n]|\n[ \t]+[.?:&|+)])*/.exec(code.slice(bodyStart))
  return bodyStart + (line?.[0].length ?? 0)
}
