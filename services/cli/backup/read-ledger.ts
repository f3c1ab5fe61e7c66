import type { Redis } from 'ioredis'
import { type LedgerScope, ledgerKeys } from '../../../shared/contracts/ledger.ts'
import type { LedgerPart, StoredLedger } from './ledger-state.ts'

/**
 * All of one scope in one step, so that totals and attempts are of the same moment.
 * KEYS: project, days, open, runs, outbox. ARGV: what the key of a run begins with.
 */
const READ = `
local open = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
local runs = redis.call('ZRANGE', KEYS[4], 0, -1, 'WITHSCORES')
local ids, known = {}, {}
local function add(id)
  if not known[id] then
    known[id] = true
    ids[#ids + 1] = id
  end
end
for i = 1, #runs, 2 do add(runs[i]) end
for i = 1, #open, 2 do add(string.match(open[i], '^%S+')) end
local fields = {}
for i, id in ipairs(ids) do fields[i] = redis.call('HGETALL', ARGV[1] .. id) end
return {
  redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]), open, runs,
  redis.call('HGETALL', KEYS[5]), ids, fields,
}
`

type Reply = [string[], string[], string[], string[], string[], string[], string[][]]

export async function readLedger(redis: Redis): Promise<LedgerPart> {
  const [live, notional] = [await readScope(redis, 'live'), await readScope(redis, 'notional')]
  return { live, notional }
}

async function readScope(redis: Redis, scope: LedgerScope): Promise<StoredLedger> {
  const keys = ledgerKeys(scope)
  const names = [keys.project, keys.days, keys.open, keys.runs, keys.outbox]
  const reply = (await redis.eval(READ, names.length, ...names, keys.run(''))) as Reply
  const [project, days, open, runs, outbox, ids, fields] = reply
  const hashes = ids.map((id, i) => [id, hashOf(fields[i] ?? [])] as const)
  return {
    project: hashOf(project),
    days: hashOf(days),
    open: scoresOf(open),
    runs: scoresOf(runs),
    outbox: hashOf(outbox),
    run: Object.fromEntries(hashes.filter(([, hash]) => Object.keys(hash).length > 0)),
  }
}

function hashOf(flat: string[]): Record<string, string> {
  return Object.fromEntries(pairsOf(flat))
}

function scoresOf(flat: string[]): [string, number][] {
  return pairsOf(flat).map(([member, score]) => [member, Number(score)])
}

function pairsOf(flat: string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [
    flat[2 * i] ?? '',
    flat[2 * i + 1] ?? '',
  ])
}
