import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'

/** JSON as people write settings: with comments and trailing commas. Or what is wrong, and where. */
export function parseJsonc(text: string): { value: unknown } | { problem: string } {
  const errors: ParseError[] = []
  try {
    const value = parse(text.replace(/^\uFEFF/, ' '), errors, { allowTrailingComma: true })
    const [first] = errors
    return first ? { problem: problemText(text, first) } : { value }
  } catch (error) {
    // The parser calls itself for each level, and a hostile file has as many as it likes.
    if (error instanceof RangeError) return { problem: 'it is nested too deeply' }
    throw error
  }
}

/** `line 3, column 7: comma expected`. */
function problemText(text: string, { error, offset }: ParseError): string {
  const before = text.slice(0, offset).split('\n')
  const column = (before.at(-1)?.length ?? 0) + 1
  const words = printParseErrorCode(error)
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
  return `line ${before.length}, column ${column}: ${words}`
}
