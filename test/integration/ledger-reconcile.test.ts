import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../services/agent-runner/budget/ledger.ts'
import { createReconciler } from '../../services/agent-runner/budget/reconcile.ts'
import {
  createJournalStore,
  type JournalStore,
} from '../../services/agent-runner/journal/journal-store.ts'
import { ledgerKeys, readProjectAmounts, readRunCosts } from '../../shared/contracts/ledger.ts'
import { createLogger } from '../../shared/logger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { openLedger, readEvidence } from '../support/ledger.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { runRequest } from '../support/simulated-run.ts'

const GRACE_MS = 360_000
const at = '2026-11-29T12:00:00.000Z'
const limits = { project: 10_000, day: 10_000, run: 10_000 }

let server: TestRedis
let redis: Redis
let home: string
let now: Date
let ledger: Ledger
let journal: JournalStore

beforeAll(async () => {
  server = await startRedis()
  redis = connectOrFail(server.address)
  home = await mkdtemp(join(tmpdir(), 'astra-ledger-'))
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
  await rm(home, { recursive: true, force: true })
})
beforeEach(async () => {
  await redis.flushall()
  await rm(join(home, 'ledger'), { recursive: true, force: true })
  now = new Date(at)
  ledger = openLedger(redis, home, { now: () => now })
  journal = createJournalStore(redis)
})

const reconciler = () =>
  createReconciler({
    ledgers: [ledger],
    journal,
    log: createLogger('ledger-test', 'silent'),
    graceMs: GRACE_MS,
  })

/** A run with one attempt held and one sent, in the ledger and in its journal. */
async function begin(runId: string): Promise<void> {
  await journal.append(runId, 'start', {
    at,
    request: { ...runRequest, run_id: runId },
    model: 'gpt-6-astra',
    settings: null,
    refusal: null,
  })
  await ledger.hold(runId, '1.1', 100, limits)
  const sent = { at, hold_microusd: 100, delivers: [], reminder: false }
  await journal.appendKeyed(runId, 'sent', '1.1', sent)
  await ledger.sent(runId, '1.1')
  await ledger.hold(runId, '2.1', 50, limits)
}

/** The run has ended and was put away, but whoever did it died before it had settled. */
async function end(runId: string): Promise<void> {
  await journal.append(runId, 'end', {
    at,
    status: 'failed',
    reason: 'internal_error',
    message: 'ended',
    final_text: null,
  })
  await journal.retire(runId)
}

const states = async (runId: string) =>
  (await readRunCosts(redis, 'live', runId))?.attempts.map((each) => each.state)
const later = (ms: number) => {
  now = new Date(now.getTime() + ms)
}

describe('reconciling', () => {
  it('charges what an ended run sent without an end in full, and releases what it only held', async () => {
    await begin('run-a')
    await end('run-a')
    later(GRACE_MS)
    await reconciler()()
    expect(await states('run-a')).toEqual(['settled', 'released'])
    expect(await readProjectAmounts(redis, 'live')).toEqual({ held: 0, sent: 0, settled: 100 })
  })

  it('charges what the journal of an ended run knows', async () => {
    await begin('run-a')
    const fault = { at, final: true, code: 'x', message: 'x', retry_after_ms: null }
    await journal.appendKeyed('run-a', 'fault', '1.1', { ...fault, charged: false })
    await end('run-a')
    later(GRACE_MS)
    await reconciler()()
    expect(await states('run-a')).toEqual(['settled', 'released'])
    expect(await readProjectAmounts(redis, 'live')).toEqual({ held: 0, sent: 0, settled: 0 })
  })

  it('does the same for a run that is not there any more', async () => {
    await ledger.hold('run-gone', '1.1', 100, limits)
    await ledger.sent('run-gone', '1.1')
    await ledger.hold('run-gone', '2.1', 50, limits)
    later(GRACE_MS)
    await reconciler()()
    expect(await states('run-gone')).toEqual(['settled', 'released'])
    expect((await readProjectAmounts(redis, 'live')).settled).toBe(100)
  })

  it('leaves a run that goes on as it is, however old its attempts are', async () => {
    await begin('run-a')
    later(GRACE_MS * 1000)
    await reconciler()()
    expect(await states('run-a')).toEqual(['sent', 'held'])
  })

  it('waits until whoever sent the request has had the time to settle it', async () => {
    await begin('run-a')
    await end('run-a')
    later(GRACE_MS - 1)
    await reconciler()()
    expect(await states('run-a')).toEqual(['sent', 'held'])
  })

  it('may be done by several processes at once', async () => {
    for (const runId of ['run-a', 'run-b']) {
      await begin(runId)
      await end(runId)
    }
    later(GRACE_MS)
    await Promise.all([1, 2, 3, 4].map(() => reconciler()()))
    expect(await readProjectAmounts(redis, 'live')).toEqual({ held: 0, sent: 0, settled: 200 })
    expect(await readEvidence(home, 'live')).toHaveLength(10)
    expect(await redis.zcard(ledgerKeys('live').open)).toBe(0)
  })

  it('does nothing when it was done a moment ago', async () => {
    const reconcile = reconciler()
    await reconcile()
    await ledger.hold('run-gone', '1.1', 100, limits)
    later(GRACE_MS)
    await reconcile()
    expect(await states('run-gone')).toEqual(['held'])
  })
})
