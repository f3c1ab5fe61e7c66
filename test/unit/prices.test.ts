import { describe, expect, it } from 'vitest'
import {
  costMicrousd,
  holdMicrousd,
  isFreeOfCharge,
  pricesOf,
} from '../../services/agent-runner/model/prices.ts'

const none = { ASTRA_PRICES: undefined, ASTRA_SERVICE_TIER: undefined }
const astra = pricesOf('gpt-6-astra', none)
const usage = {
  input_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
}

describe('prices', () => {
  it('are known for both Astra models and for no other unless configured', () => {
    expect(pricesOf('gpt-6.2-astra', none)).toMatchObject({ input: 8, output: 40 })
    expect(pricesOf('other', none)).toBeNull()
    const own = { input: 0, cached: 0, cacheWrite: 0, output: 0 }
    expect(pricesOf('other', { ...none, ASTRA_PRICES: own })).toBe(own)
  })

  it('of a tier other than the standard one are known only when configured', () => {
    const own = { input: 5, cached: 0.5, cacheWrite: 6.25, output: 25 }
    for (const tier of ['flex', 'priority'] as const) {
      expect(pricesOf('gpt-6-astra', { ...none, ASTRA_SERVICE_TIER: tier })).toBeNull()
      const configured = { ASTRA_PRICES: own, ASTRA_SERVICE_TIER: tier }
      expect(pricesOf('gpt-6-astra', configured)).toBe(own)
    }
    for (const tier of ['auto', 'default'] as const) {
      expect(pricesOf('gpt-6-astra', { ...none, ASTRA_SERVICE_TIER: tier })).toEqual(astra)
    }
  })

  it('are believed to be zero only for a server on this machine', () => {
    const zero = { input: 0, cached: 0, cacheWrite: 0, output: 0 }
    const free = (OPENAI_BASE_URL: string, ASTRA_PRICES: typeof zero | undefined = zero) =>
      isFreeOfCharge({ OPENAI_BASE_URL, ASTRA_PRICES })
    for (const host of ['localhost:11434', '127.0.0.1:8000', '127.1.2.3', '[::1]:1234']) {
      expect(free(`http://${host}/v1`), host).toBe(true)
    }
    for (const host of [
      'api.openai.com',
      '127.0.0.1.evil.example',
      'localhost.example',
      '10.0.0.7',
    ]) {
      expect(free(`https://${host}/v1`), host).toBe(false)
    }
    expect(free('http://127.0.0.1/v1', { ...zero, output: 0.1 })).toBe(false)
    expect(
      isFreeOfCharge({ OPENAI_BASE_URL: 'http://127.0.0.1/v1', ASTRA_PRICES: undefined }),
    ).toBe(false)
  })

  it('charge fresh, cached and cache-writing input apart, in whole micro-dollars rounded up', () => {
    if (!astra) throw new Error('no price')
    const read = {
      ...usage,
      input_tokens: 1000,
      cached_tokens: 600,
      cache_write_tokens: 100,
      output_tokens: 10,
    }
    expect(costMicrousd(read, astra)).toBe(300 * 10 + 600 * 1 + 100 * 12.5 + 10 * 50)
    expect(costMicrousd({ ...usage, input_tokens: 1, cache_write_tokens: 1 }, astra)).toBe(13)
  })

  it('double the input and raise the output of a request above 272,000 input tokens', () => {
    if (!astra) throw new Error('no price')
    const long = { ...usage, input_tokens: 272_001, output_tokens: 100 }
    expect(costMicrousd(long, astra)).toBe(272_001 * 20 + 100 * 75)
  })

  it('hold at least what any use of that size can cost', () => {
    if (!astra) throw new Error('no price')
    const worst = { ...usage, input_tokens: 5000, cache_write_tokens: 5000, output_tokens: 800 }
    expect(holdMicrousd(5000, 800, astra)).toBeGreaterThanOrEqual(costMicrousd(worst, astra))
  })
})
