import type { StructuredPatchHunk } from 'diff'

/** `hunk` is the number, from 1, of the first that is not word for word where it says it is. */
type HunksResult = { ok: true; text: string } | { ok: false; hunk: number }

/**
 * Applies hunks at exactly the lines that they name, with every line of theirs as it stands there,
 * line ends and a missing newline at the end of the file included.
 */
export function applyHunks(text: string, hunks: readonly StructuredPatchHunk[]): HunksResult {
  const lines = linesOf(text)
  const result: string[] = []
  let at = 0
  for (const [index, hunk] of hunks.entries()) {
    const start = hunk.oldStart - 1
    const { before, after } = sidesOf(hunk)
    const there = lines.slice(start, start + before.length)
    const fits = there.length === before.length && there.every((line, n) => line === before[n])
    if (start < at || start > lines.length || !fits) return { ok: false, hunk: index + 1 }
    result.push(...lines.slice(at, start), ...after)
    at = start + before.length
  }
  result.push(...lines.slice(at))
  // Only the last line of a file can lack its newline.
  const cut = result.findIndex((line, n) => n < result.length - 1 && !line.endsWith('\n'))
  return cut < 0 ? { ok: true, text: result.join('') } : { ok: false, hunk: hunks.length }
}

/** Lines with the newline that ends them. */
const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function sidesOf(hunk: StructuredPatchHunk): { before: string[]; after: string[] } {
  const before: string[] = []
  const after: string[] = []
  for (const [index, line] of hunk.lines.entries()) {
    // "\ No newline at end of file" is said of the line before it.
    if (line.startsWith('\\')) continue
    const ended = hunk.lines[index + 1]?.startsWith('\\') ? line.slice(1) : `${line.slice(1)}\n`
    if (!line.startsWith('+')) before.push(ended)
    if (!line.startsWith('-')) after.push(ended)
  }
  return { before, after }
}
