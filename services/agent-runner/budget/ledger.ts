import type { Redis } from 'ioredis'
import { KEY_PREFIX } from '../../../shared/queue/connection.ts'

/** `live`: money that is really spent. `notional`: what the stand-in's tokens would have cost. */
export type LedgerScope = 'live' | 'notional'

/**
 * Takes a hold if scope and run stay within their limits. One script, so that no two runs can take
 * the same last dollar. A hold that exists already is granted again: a retried step asks twice.
 * KEYS: scope totals, run totals, holds. ARGV: hold id, amount, scope limit, run limit.
 * Returns {1, scope left, run left} or {0, scope left, run left} as they were before.
 */
const HOLD = `
local function used(key)
  local t = redis.call('HMGET', key, 'held', 'settled')
  return (tonumber(t[1]) or 0) + (tonumber(t[2]) or 0)
end
local amount = tonumber(ARGV[2])
local scopeLeft = tonumber(ARGV[3]) - used(KEYS[1])
local runLeft = tonumber(ARGV[4]) - used(KEYS[2])
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return {1, scopeLeft, runLeft} end
if amount > scopeLeft or amount > runLeft then return {0, scopeLeft, runLeft} end
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
redis.call('HINCRBY', KEYS[1], 'held', ARGV[2])
redis.call('HINCRBY', KEYS[2], 'held', ARGV[2])
return {1, scopeLeft - amount, runLeft - amount}
`

/**
 * Turns a hold into what was really spent (0 gives it back). Does nothing when it was settled.
 * KEYS as above. ARGV: hold id, amount.
 */
const SETTLE = `
local held = redis.call('HGET', KEYS[3], ARGV[1])
if not held then return 0 end
redis.call('HDEL', KEYS[3], ARGV[1])
for i = 1, 2 do
  redis.call('HINCRBY', KEYS[i], 'held', -tonumber(held))
  redis.call('HINCRBY', KEYS[i], 'settled', ARGV[2])
end
return 1
`

export type HoldResult =
  | { granted: true }
  | { granted: false; limit: 'project' | 'run'; leftMicrousd: number }

export type Ledger = {
  /** `holdId` names one attempt of one request of the run. Amounts are integer micro-dollars. */
  hold(
    runId: string,
    holdId: string,
    amount: number,
    limits: { project: number; run: number },
  ): Promise<HoldResult>
  settle(runId: string, holdId: string, amount: number): Promise<void>
}

export function createLedger(redis: Redis, scope: LedgerScope): Ledger {
  const keys = (runId: string) => [
    `${KEY_PREFIX}:ledger:${scope}`,
    `${KEY_PREFIX}:ledger:${scope}:run:${runId}`,
    `${KEY_PREFIX}:ledger:${scope}:holds`,
  ]
  return {
    async hold(runId, holdId, amount, limits) {
      const args = [`${runId} ${holdId}`, amount, limits.project, limits.run]
      const reply = (await redis.eval(HOLD, 3, ...keys(runId), ...args)) as [number, number, number]
      const [granted, projectLeft, runLeft] = reply
      if (granted === 1) return { granted: true }
      return projectLeft < amount
        ? { granted: false, limit: 'project', leftMicrousd: projectLeft }
        : { granted: false, limit: 'run', leftMicrousd: runLeft }
    },
    async settle(runId, holdId, amount) {
      await redis.eval(SETTLE, 3, ...keys(runId), `${runId} ${holdId}`, amount)
    },
  }
}
