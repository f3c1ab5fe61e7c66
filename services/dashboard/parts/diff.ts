import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import { printedText } from './printed-text.ts'

/** More is neither read nor fast to lay out; `astra status RUN` prints all of it. */
const MAX_CHARS = 200_000
const MAX_LINES = 3000
const MAX_LINE = 1000

type LineKind = 'file' | 'hunk' | 'add' | 'del' | 'same'

/** A unified diff, a line in its colour. Its text is data and stays what it is. */
export function diffView(given: string): Html {
  const { text, left } = printedText(given, MAX_CHARS)
  const lines = text.replace(/\n$/, '').split('\n')
  const kinds = kindsOf(lines)
  const shown = lines.slice(0, MAX_LINES)
  const cut = lines.length > shown.length || left > 0
  return html`<pre class="diff" tabindex="0" role="region" aria-label="Diff">${shown.map(
    (line, i) => html`<span class="diff-${kinds[i] ?? 'same'}">${clipped(line)}
</span>`,
  )}</pre>
${cut ? html`<p class="note">The diff goes on: it is too long to be shown here.</p>` : ''}`
}

function clipped(line: string): string {
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE).toWellFormed()}…`
}

/**
 * A hunk says how many lines it has, so that a removed line that begins with "-- " is not taken for
 * the header of a file.
 */
function kindsOf(lines: string[]): LineKind[] {
  const left = { old: 0, now: 0 }
  return lines.map((line) => {
    if (left.old > 0 || left.now > 0) return kindInHunk(line, left)
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
    if (!hunk) return line.startsWith('\\') ? 'same' : 'file'
    left.old = Number(hunk[1] ?? 1)
    left.now = Number(hunk[2] ?? 1)
    return 'hunk'
  })
}

function kindInHunk(line: string, left: { old: number; now: number }): LineKind {
  if (line.startsWith('\\')) return 'same'
  if (line.startsWith('+')) {
    left.now -= 1
    return 'add'
  }
  left.old -= 1
  if (line.startsWith('-')) return 'del'
  left.now -= 1
  return 'same'
}
