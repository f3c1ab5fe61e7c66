import { createReadStream } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Redis } from 'ioredis'
import type { Config } from '../../../shared/config.ts'
import { type Amounts, type LedgerScope, ledgerScopes } from '../../../shared/contracts/ledger.ts'
import { connectOrFail } from '../../../shared/queue/connection.ts'
import { keptRunSchema, writeEndedRun } from './ended-runs.ts'
import { type LedgerPart, type LedgerState, ledgerPartSchema, stateOf } from './ledger-state.ts'
import { LEDGER_PART, RUNS_PART } from './manifest.ts'
import { mergeLedgers } from './merge-ledgers.ts'
import { withOwnRedis } from './own-redis.ts'
import { readEvidence } from './read-evidence.ts'
import { readLedger } from './read-ledger.ts'
import { writeLedger } from './write-ledger.ts'

type Env = Record<string, string | undefined>
export type Spent = Record<LedgerScope, Amounts>

/** A command may take all of a ledger. */
const WAIT_MS = 60_000

/**
 * Restores what Redis keeps: the ledger, which afterwards knows what the backup, the present Redis and
 * all evidence know, and the ended runs. A Redis of our own gets new data, ready to take the place of
 * the present; into one of the person's own it is written now, where it only adds.
 */
export async function restoreState(config: Config, ready: string, env: Env): Promise<Spent> {
  const part = ledgerPartSchema.parse(JSON.parse(await readFile(join(ready, LEDGER_PART), 'utf8')))
  const evidence = await readEvidence(join(ready, 'ledger'))
  const restore = async (redis: Redis, present: LedgerPart | null) => {
    const spent = await restoreLedger(redis, { part, evidence, present }, 'url' in config.redis)
    await restoreRuns(redis, join(ready, RUNS_PART))
    return spent
  }
  const spent = 'url' in config.redis ? await inTheirs(config.redis, restore) : await inOurs()
  await rm(dirname(join(ready, RUNS_PART)), { recursive: true })
  return spent

  async function inOurs(): Promise<Spent> {
    const data = join(config.home, 'redis')
    const hasData = (await readdir(data).catch(() => [])).length > 0
    const present = hasData ? await withOwnRedis(data, env, readLedger) : null
    return withOwnRedis(join(ready, 'redis'), env, (redis) => restore(redis, present))
  }
}

async function inTheirs(
  address: { url: string },
  restore: (redis: Redis, present: LedgerPart) => Promise<Spent>,
): Promise<Spent> {
  const redis = connectOrFail(address, { waitMs: WAIT_MS })
  redis.on('error', () => {})
  try {
    return await restore(redis, await readLedger(redis))
  } finally {
    redis.disconnect()
  }
}

type Known = {
  part: LedgerPart
  present: LedgerPart | null
  evidence: Record<LedgerScope, LedgerState>
}

/** `goesOn`: the runs of the present stay where they are, and may spend further. */
async function restoreLedger(
  redis: Redis,
  { part, present, evidence }: Known,
  goesOn: boolean,
): Promise<Spent> {
  const now = new Date()
  const scopes: [LedgerScope, LedgerState][] = ledgerScopes.map((scope) => {
    const here = present ? stateOf(present[scope]) : null
    const states = [stateOf(part[scope]), evidence[scope], ...(here ? [here] : [])]
    const merged = mergeLedgers(states, now)
    closeRuns(merged, goesOn && here ? here : null, now)
    return [scope, merged]
  })
  for (const [scope, state] of scopes) await writeLedger(redis, scope, state)
  const [live, notional] = scopes.map(([, { project }]) => project)
  if (!live || !notional) throw new Error('a ledger has two scopes')
  return { live, notional }
}

/** Nobody goes on with a run of before: nothing is held for it any more, and what is open gets closed. */
function closeRuns({ runs }: LedgerState, present: LedgerState | null, now: Date): void {
  for (const [id, run] of runs) if (!present?.runs.has(id)) run.closed ??= now.toISOString()
}

async function restoreRuns(redis: Redis, file: string): Promise<void> {
  const now = new Date()
  for await (const line of createInterface({ input: createReadStream(file) })) {
    await writeEndedRun(redis, keptRunSchema.parse(JSON.parse(line)), now)
  }
}
