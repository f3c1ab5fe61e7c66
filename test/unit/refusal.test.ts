import { describe, expect, it } from 'vitest'
import { refusalOf } from '../../services/agent-runner/budget/refusal.ts'
import { readConfig } from '../../shared/config.ts'
import { runRequest } from '../support/simulated-run.ts'

const refused = (env: Record<string, string>, approve_live_cost = false) =>
  refusalOf(
    { ...runRequest, mode: 'live', approve_live_cost },
    readConfig({ ASTRA_HOME: '/data/astra', ...env }),
  )

const key = { OPENAI_API_KEY: 'any text' }
const local = {
  ...key,
  OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1',
  ASTRA_MODEL: 'local-model',
  ASTRA_PRICES: '0,0,0,0',
}

describe('a live run', () => {
  it('is refused without a key, without approval and without a known price, in this order', () => {
    expect(refused({})).toMatchObject({ reason: 'no_api_key' })
    expect(refused(key)).toMatchObject({ reason: 'cost_not_approved' })
    expect(refused({ ...key, ASTRA_MODEL: 'other' }, true)).toMatchObject({
      reason: 'unknown_price',
      message: expect.stringContaining('ASTRA_PRICES'),
    })
    expect(refused(key, true)).toBeNull()
  })

  it('in a tier whose price is not known is refused until a price is set', () => {
    const flex = { ...key, ASTRA_SERVICE_TIER: 'flex' }
    expect(refused(flex, true)).toMatchObject({
      reason: 'unknown_price',
      message: expect.stringContaining('tier flex'),
    })
    expect(refused({ ...flex, ASTRA_PRICES: '5,0.5,6.25,25' }, true)).toBeNull()
    expect(refused({ ...key, ASTRA_SERVICE_TIER: 'default' }, true)).toBeNull()
  })

  it('that nobody is paid for needs no approval, one at a distance does whatever its price', () => {
    expect(refused(local)).toBeNull()
    const far = { ...local, OPENAI_BASE_URL: 'https://models.example/v1' }
    expect(refused(far)).toMatchObject({ reason: 'cost_not_approved' })
    expect(refused({ ...local, ASTRA_PRICES: '0,0,0,1' })).toMatchObject({
      reason: 'cost_not_approved',
    })
  })
})
