import type { Config } from '../../../shared/config.ts'
import type { RunReason, RunRequest } from '../../../shared/contracts/run.ts'
import { isFreeOfCharge, pricesOf } from '../model/prices.ts'

export type Refusal = { reason: RunReason; message: string }

/** Why this run may not ask a model, or null. Decided before anything is done or paid. */
export function refusalOf(request: RunRequest, config: Config): Refusal | null {
  if (request.mode === 'offline') {
    if (config.OFFLINE_MODEL_URL) return null
    return {
      reason: 'no_offline_model',
      message: 'No stand-in model is set: OFFLINE_MODEL_URL must name a running offline-model.',
    }
  }
  if (!config.OPENAI_API_KEY) {
    return { reason: 'no_api_key', message: 'A live run needs OPENAI_API_KEY at the agent-runner.' }
  }
  if (!request.approve_live_cost && !isFreeOfCharge(config)) {
    return {
      reason: 'cost_not_approved',
      message: 'A live run sends paid requests: approve them with --approve-live-cost.',
    }
  }
  if (!pricesOf(config.ASTRA_MODEL, config)) {
    const tier = config.ASTRA_SERVICE_TIER ? ` in tier ${config.ASTRA_SERVICE_TIER}` : ''
    return {
      reason: 'unknown_price',
      message: `The price of ${config.ASTRA_MODEL}${tier} is not known: set ASTRA_PRICES (input,cached,cache_write,output in USD per million tokens).`,
    }
  }
  return null
}
