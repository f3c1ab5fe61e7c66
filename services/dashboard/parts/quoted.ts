import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import { printedText } from './printed-text.ts'

/** More than this is neither read nor fast to lay out. */
const MAX_CHARS = 64_000

/** Text of a model or a test as a block of its own: quoted, never part of what this page says. */
export function quoted(given: string, label: string): Html {
  const { text, left } = printedText(given, MAX_CHARS)
  return html`<pre tabindex="0" role="region" aria-label="${label}">
${text}</pre>${left > 0 ? html`<p class="muted">${left} more characters are not shown.</p>` : ''}`
}
