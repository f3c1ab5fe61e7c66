import { html } from 'hono/html'
import type { Html } from '../layout.ts'

/** A moment in UTC, to the minute; the exact one is in its title. */
export function when(iso: string): Html {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return html`${iso.slice(0, 40)}`
  const exact = date.toISOString()
  return html`<time class="nowrap" datetime="${exact}" title="${exact}">${exact.slice(0, 10)} ${exact.slice(11, 16)}</time>`
}

/** The time of day in UTC, to the second. */
export function timeOfDay(iso: string): Html {
  return html`<time datetime="${iso.slice(0, 40)}">${iso.slice(11, 19)}</time>`
}

/** The time between two moments, as people say it. */
export function duration(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from)
  if (!Number.isFinite(ms)) return ''
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 100) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
