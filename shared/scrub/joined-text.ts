/**
 * A text with its broken lines and joined strings put together, and where each of its characters
 * stood: a long token goes over two lines in a narrow terminal, or is `"one" + "two"` in code.
 */
export type JoinedText = { text: string; at(index: number): number }

/** A line's end within a token, with what strings, shells and diffs write there; or two strings. */
const JOINT =
  /(?<=[\w+/=.-])(?:["'`]?[ \t]{0,40}[+.\\]?[ \t]{0,40}\r?\n[+\-|>]?[ \t]{0,40}[+.]?[ \t]{0,5}["'`]?|["'`][ \t]{0,5}[+.]?[ \t]{0,5}["'`])(?=[\w+/=.-])/g

/** Null when nothing is broken. */
export function joinedText(text: string): JoinedText | null {
  const starts: { joined: number; original: number }[] = []
  let joined = ''
  let last = 0
  for (const match of text.matchAll(JOINT)) {
    joined += text.slice(last, match.index)
    last = match.index + match[0].length
    starts.push({ joined: joined.length, original: last })
  }
  if (starts.length === 0) return null
  return {
    text: joined + text.slice(last),
    at(index) {
      const piece = starts.findLast((start) => start.joined <= index)
      return piece ? index - piece.joined + piece.original : index
    },
  }
}
