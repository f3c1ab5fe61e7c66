import type { Config } from '../../../shared/config.ts'
import type { Usage } from '../journal/entries.ts'

/** US dollars per million tokens. */
export type Prices = { input: number; cached: number; cacheWrite: number; output: number }

/** Standard processing, as published on 2026-11-17. A model that is not here needs ASTRA_PRICES. */
const published: Record<string, Prices> = {
  'gpt-6-astra': { input: 10, cached: 1, cacheWrite: 12.5, output: 50 },
  'gpt-6.2-astra': { input: 8, cached: 0.8, cacheWrite: 10, output: 40 },
}

/** Above this many input tokens the whole request costs more. */
const LONG_INPUT_TOKENS = 272_000
const LONG_INPUT_FACTOR = 2
const LONG_OUTPUT_FACTOR = 1.5

/** Tiers that are billed at other than standard prices. */
const OTHER_PRICES = new Set<Config['ASTRA_SERVICE_TIER']>(['flex', 'priority'])

/**
 * The prices of `model` in the configured tier, or null: a paid request with an unknown price is
 * refused.
 */
export function pricesOf(
  model: string,
  config: Pick<Config, 'ASTRA_PRICES' | 'ASTRA_SERVICE_TIER'>,
): Prices | null {
  if (config.ASTRA_PRICES) return config.ASTRA_PRICES
  return OTHER_PRICES.has(config.ASTRA_SERVICE_TIER) ? null : (published[model] ?? null)
}

/**
 * Nobody is paid for live requests: the prices were set to zero and the server is on this machine. A
 * zero alone is not believed, because a slip in a setting must not send paid requests unapproved.
 */
export function isFreeOfCharge(config: Pick<Config, 'ASTRA_PRICES' | 'OPENAI_BASE_URL'>): boolean {
  if (!config.ASTRA_PRICES) return false
  const { hostname } = new URL(config.OPENAI_BASE_URL)
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
  return isLocal && Object.values(config.ASTRA_PRICES).every((price) => price === 0)
}

/** The stand-in's tokens are priced as Astra's, so that its runs show what a real one would cost. */
export const notionalPrices: Prices = published['gpt-6-astra'] as Prices

/** What a response cost, in micro-dollars, rounded up. A dollar per million tokens is one each. */
export function costMicrousd(usage: Usage, prices: Prices): number {
  const long = usage.input_tokens > LONG_INPUT_TOKENS
  const fresh = Math.max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens)
  const input =
    fresh * prices.input +
    usage.cached_tokens * prices.cached +
    usage.cache_write_tokens * prices.cacheWrite
  const output = usage.output_tokens * prices.output
  return Math.ceil(
    input * (long ? LONG_INPUT_FACTOR : 1) + output * (long ? LONG_OUTPUT_FACTOR : 1),
  )
}

/** The most that a request can cost: every input token at the dearest rate, all the output it may write. */
export function holdMicrousd(inputTokens: number, maxOutputTokens: number, prices: Prices): number {
  const dearest = Math.max(prices.input, prices.cached, prices.cacheWrite)
  const long = inputTokens > LONG_INPUT_TOKENS
  const input = inputTokens * dearest * (long ? LONG_INPUT_FACTOR : 1)
  const output = maxOutputTokens * prices.output * (long ? LONG_OUTPUT_FACTOR : 1)
  return Math.ceil(input + output)
}
