import { html } from 'hono/html'
import type { Html } from '../layout.ts'

/** What may be wider or longer than its place scrolls there, by keyboard too. */
export function scrollBox(label: string, content: Html): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">${content}</div>`
}
