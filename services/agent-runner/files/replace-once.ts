/** What came of looking for one occurrence. `message` is for the model. */
export type Replacement = { ok: true; text: string } | { ok: false; message: string }

/**
 * Replaces the one occurrence of `oldText`. The file's line endings are kept: where it has CRLF
 * throughout, LF in both texts stands for them.
 */
export function replaceOnce(text: string, oldText: string, newText: string): Replacement {
  const crlf = text.includes('\r\n') && !/(^|[^\r])\n/.test(text)
  const convert = (part: string) => (crlf ? part.replace(/\r?\n/g, '\r\n') : part)
  const wanted = convert(oldText)
  const first = text.indexOf(wanted)
  if (first < 0) {
    return { ok: false, message: `old_text does not occur in the file.${nearest(text, oldText)}` }
  }
  const matches = text.split(wanted).length - 1
  const overlapping = text.indexOf(wanted, first + 1) >= 0
  if (matches > 1 || overlapping) {
    const count = Math.max(matches, 2)
    return {
      ok: false,
      message: `old_text occurs ${count} times; add lines around it until it is unique.`,
    }
  }
  return {
    ok: true,
    text: text.slice(0, first) + convert(newText) + text.slice(first + wanted.length),
  }
}

/** The line of the file that shares most words with the first line that was looked for. */
function nearest(text: string, oldText: string): string {
  const words = new Set(
    oldText
      .split('\n')
      .find((line) => line.trim())
      ?.match(/\w+/g) ?? [],
  )
  let best = { score: 0, line: 0, text: '' }
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const score = (line.match(/\w+/g) ?? []).filter((word) => words.has(word)).length
    if (score > best.score) best = { score, line: index + 1, text: line }
  }
  return best.score === 0 ? '' : ` The nearest line is ${best.line}: ${best.text.slice(0, 200)}`
}
