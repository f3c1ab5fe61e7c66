import type { Redis } from 'ioredis'
import type { Config } from '../../../shared/config.ts'
import type { RunMode } from '../../../shared/contracts/run.ts'
import type { Logger } from '../../../shared/logger.ts'
import { openEvidence } from '../budget/evidence.ts'
import { createLedger, type Ledgers } from '../budget/ledger.ts'
import type { ModelAccess } from '../deps.ts'
import { createModelClient } from './client.ts'
import { notionalPrices, pricesOf } from './prices.ts'

/** The name under which the stand-in's runs are shown. It is not Astra. */
const STAND_IN = 'offline-stand-in'

/** Nobody pays the stand-in, so nothing limits it; the ledger still says what it would have cost. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** Both, also where a mode cannot be used: what an earlier configuration spent is looked after too. */
export function createLedgers(config: Config, redis: Redis, log: Logger): Ledgers {
  const common = { evidence: openEvidence(config.home), log, now: () => new Date() }
  return {
    live: createLedger(redis, { ...common, scope: 'live', model: config.ASTRA_MODEL }),
    notional: createLedger(redis, { ...common, scope: 'notional', model: STAND_IN }),
  }
}

/** The two ways to a model. Live is there only with a key and a known price. */
export function modelAccess(
  config: Config,
  ledgers: Ledgers,
): (mode: RunMode) => ModelAccess | null {
  const timeoutMs = config.ASTRA_REQUEST_SECONDS * 1000
  const limits = { timeoutMs, idleMs: config.ASTRA_IDLE_SECONDS * 1000 }
  const background = config.ASTRA_BACKGROUND === '1'
  const prices = pricesOf(config.ASTRA_MODEL, config)
  const effort = config.ASTRA_REASONING_EFFORT
  const live: ModelAccess | null =
    config.OPENAI_API_KEY && prices
      ? {
          client: createModelClient({
            baseURL: config.OPENAI_BASE_URL,
            apiKey: config.OPENAI_API_KEY,
            ...limits,
          }),
          settings: {
            model: config.ASTRA_MODEL,
            effort,
            chain: config.ASTRA_CHAIN,
            tier: config.ASTRA_SERVICE_TIER ?? null,
          },
          prices,
          background,
          timeoutMs,
          ledger: ledgers.live,
          limits: (run) => ({
            project: Math.floor(config.ASTRA_PROJECT_BUDGET_USD * 1e6),
            day: Math.floor(config.ASTRA_DAY_BUDGET_USD * 1e6),
            run,
          }),
        }
      : null
  const offline: ModelAccess | null = config.OFFLINE_MODEL_URL
    ? {
        client: createModelClient({
          baseURL: config.OFFLINE_MODEL_URL,
          apiKey: 'offline',
          ...limits,
        }),
        settings: { model: STAND_IN, effort, chain: 'previous', tier: null },
        prices: notionalPrices,
        background,
        timeoutMs,
        ledger: ledgers.notional,
        limits: () => ({ project: NO_LIMIT, day: NO_LIMIT, run: NO_LIMIT }),
      }
    : null
  return (mode) => (mode === 'live' ? live : offline)
}
