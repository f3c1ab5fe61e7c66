import type { ChainableCommander, Redis } from 'ioredis'
import { type Amounts, type LedgerScope, ledgerKeys } from '../../../shared/contracts/ledger.ts'
import {
  amountsOf,
  combine,
  isOpen,
  type LedgerRun,
  type LedgerState,
  nothing,
  sum,
} from './ledger-state.ts'

/** As the ledger keeps a closed run. */
const KEEP_RUN_MS = 90 * 24 * 3600 * 1000

/** Puts a ledger in the place of what this Redis has of that scope, in one step. */
export async function writeLedger(
  redis: Redis,
  scope: LedgerScope,
  state: LedgerState,
): Promise<void> {
  const keys = ledgerKeys(scope)
  const commands = redis.multi()
  commands.del(keys.project, keys.days, keys.open, keys.runs, keys.outbox)
  commands.hset(keys.project, { ...bucketsOf(state.project, ''), seq: String(state.seq) })
  for (const [day, amounts] of state.days) commands.hset(keys.days, bucketsOf(amounts, `${day} `))
  if (state.outbox.size > 0) commands.hset(keys.outbox, Object.fromEntries(state.outbox))
  for (const [id, run] of state.runs) writeRun(commands, keys, id, run)
  for (const [error] of (await commands.exec()) ?? []) if (error) throw error
}

function writeRun(
  commands: ChainableCommander,
  keys: ReturnType<typeof ledgerKeys>,
  id: string,
  { lastHold, limit, closed, attempts }: LedgerRun,
): void {
  const key = keys.run(id)
  const total = [...attempts.values()]
    .map(amountsOf)
    .reduce((a, b) => combine(a, b, sum), nothing())
  const fields: Record<string, string> = { ...bucketsOf(total, '') }
  if (limit !== null) fields.limit = limit
  if (closed !== null) fields.closed = closed
  for (const each of attempts.values()) {
    const { attempt, state, hold_microusd, cost_microusd, day, model, at } = each
    fields[attempt] = [state, hold_microusd, cost_microusd, day, model].join(' ')
    if (isOpen(each)) commands.zadd(keys.open, at, `${id} ${attempt}`)
  }
  commands.del(key)
  commands.hset(key, fields)
  commands.zadd(keys.runs, lastHold, id)
  if (closed !== null) commands.pexpireat(key, Date.parse(closed) + KEEP_RUN_MS)
}

function bucketsOf({ held, sent, settled }: Amounts, prefix: string): Record<string, string> {
  return {
    [`${prefix}held`]: String(held),
    [`${prefix}sent`]: String(sent),
    [`${prefix}settled`]: String(settled),
  }
}
