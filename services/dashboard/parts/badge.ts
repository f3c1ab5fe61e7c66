import { html } from 'hono/html'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'quiet'

/** A word or two that say how something stands; the colour only repeats them. */
export function badge(text: string, tone: Tone) {
  return html`<span class="badge ${tone}">${text}</span>`
}
