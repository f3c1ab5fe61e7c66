import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createReconciler } from '../../services/agent-runner/budget/reconcile.ts'
import { createJournalStore } from '../../services/agent-runner/journal/journal-store.ts'
import { dayOf, lastDays, listRunCosts, readProjectAmounts } from '../../shared/contracts/ledger.ts'
import { createLogger } from '../../shared/logger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { allTotals, openLedger, readEvidence } from '../support/ledger.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

const LIMIT = 3_000_000
const spender = join(import.meta.dirname, '../support/ledger-spender.ts')

let server: TestRedis
let redis: Redis
let home: string
let children: ChildProcess[] = []

beforeAll(async () => {
  server = await startRedis()
  redis = connectOrFail(server.address)
  home = await mkdtemp(join(tmpdir(), 'astra-ledger-'))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  redis.disconnect()
  await server.stop()
  await rm(home, { recursive: true, force: true })
})

/** A process that spends; it is killed when it got through `killAfter` attempts. */
function startSpender(name: string, killAfter: number): Promise<unknown> {
  const socket = 'path' in server.address ? server.address.path : ''
  const child = fork(spender, [socket, home, name, String(LIMIT)], { execArgv: [] })
  children.push(child)
  let through = 0
  child.on('message', () => {
    through += 1
    if (through === killAfter) child.kill('SIGKILL')
  })
  return once(child, 'exit')
}

const used = ({ held, sent, settled }: { held: number; sent: number; settled: number }) =>
  held + sent + settled

it('four processes, two of them killed, never spend more than the budget, and nothing is lost', async () => {
  const started = new Date()
  const ends = await Promise.all([
    startSpender('a', 20),
    startSpender('b', 45),
    startSpender('c', Number.POSITIVE_INFINITY),
    startSpender('d', Number.POSITIVE_INFINITY),
  ])
  children = []
  expect(ends).toEqual([
    [null, 'SIGKILL'],
    [null, 'SIGKILL'],
    [0, null],
    [0, null],
  ])
  const spent = used(await readProjectAmounts(redis, 'live'))
  expect(spent).toBeLessThanOrEqual(LIMIT)
  expect(spent).toBeGreaterThan(LIMIT - 20_000)

  // No run has a journal: all of them are gone. What was left open is closed by rule.
  const open = await openAttempts()
  expect(open.length).toBeGreaterThan(0)
  const later = () => new Date(Date.now() + 600_000)
  const reconcile = createReconciler({
    ledgers: [openLedger(redis, home, { now: later })],
    journal: createJournalStore(redis),
    log: createLogger('ledger-test', 'silent'),
    graceMs: 60_000,
  })
  await reconcile()
  for (const { run, attempt, state, hold_microusd } of open) {
    const now = (await attempts()).find((each) => each.run === run && each.attempt === attempt)
    const charged = { state: 'settled', cost_microusd: hold_microusd }
    expect(now).toMatchObject(state === 'sent' ? charged : { state: 'released' })
  }

  const days = lastDays(later(), 2)
  const { project, days: byDay, seqs, ...others } = await allTotals(redis, home, 'live', days)
  expect(project).toEqual({ held: 0, sent: 0, settled: project.settled })
  expect(byDay).toEqual(project)
  expect(others).toEqual({ runs: project, attempts: project, evidence: project, lastLine: project })
  expect(seqs).toEqual(seqs.map((_, i) => i + 1))
  const evidence = await readEvidence(home, 'live')
  expect(Math.max(...evidence.map(({ totals }) => used(totals.project)))).toBeLessThanOrEqual(LIMIT)
  expect(new Set(evidence.map(({ day }) => day))).toContain(dayOf(started))
})

async function attempts() {
  const runs = await listRunCosts(redis, 'live', '2026-01-01')
  return runs.flatMap(({ run_id, attempts }) => attempts.map((each) => ({ run: run_id, ...each })))
}

async function openAttempts() {
  return (await attempts()).filter(({ state }) => state === 'held' || state === 'sent')
}
