import { html } from 'hono/html'
import type { Html } from '../layout.ts'

/** Dollars with as many digits as tell small amounts apart. */
export function usd(microusd: number): string {
  const digits = microusd !== 0 && microusd < 1e6 ? 4 : 2
  return `$${(microusd / 1e6).toFixed(microusd > 0 && microusd < 100 ? 6 : digits)}`
}

/** A round amount beside an axis. */
export function usdTick(microusd: number): string {
  return `$${(microusd / 1e6).toLocaleString('en-US', { maximumSignificantDigits: 2 })}`
}

/** What a run cost; what nobody pays says so. */
export function cost(view: { cost_usd: number; cost_is_notional: boolean }): Html {
  const text = usd(Math.round(view.cost_usd * 1e6))
  if (!view.cost_is_notional) return html`${text}`
  return html`${text} <span class="muted" title="What the same tokens would have cost with Astra; nobody pays it">notional</span>`
}

export function count(value: number): string {
  return value.toLocaleString('en-US')
}
