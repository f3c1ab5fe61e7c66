import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type {
  HoldResult,
  Ledger,
  Limits,
  SettleResult,
} from '../../services/agent-runner/budget/ledger.ts'
import {
  type AttemptState,
  dayOf,
  lastDays,
  readDayAmounts,
} from '../../shared/contracts/ledger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { allTotals, openLedger, sumOf } from '../support/ledger.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

let server: TestRedis
let redis: Redis
beforeAll(async () => {
  server = await startRedis()
  redis = connectOrFail(server.address)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

const DAY_MS = 24 * 3600 * 1000

type Entry = {
  run: string
  attempt: string
  day: string
  state: AttemptState
  hold_microusd: number
  cost_microusd: number
}

/** The ledger as one would explain it: a list of attempts, and sums over it. */
class Model {
  day = '2026-11-29'
  entries: Entry[] = []
  closed = new Set<string>()

  find = (run: string, attempt: string) =>
    this.entries.find((each) => each.run === run && each.attempt === attempt)

  hold(run: string, attempt: string, amount: number, limits: Limits): HoldResult {
    const entry = this.find(run, attempt)
    if (this.closed.has(run)) return { granted: false, limit: null, state: 'closed' }
    if (entry && entry.state !== 'held') return { granted: false, limit: null, state: entry.state }
    const more = amount - (entry?.hold_microusd ?? 0)
    if (entry && more <= 0) return { granted: true }
    const day = entry?.day ?? this.day
    const lefts: [keyof Limits, Entry[]][] = [
      ['project', this.entries],
      ['day', this.entries.filter((each) => each.day === day)],
      ['run', this.entries.filter((each) => each.run === run)],
    ]
    for (const [limit, entries] of lefts) {
      const { held, sent, settled } = sumOf(entries)
      const left = Math.max(0, limits[limit] - held - sent - settled)
      if (more > left) return { granted: false, limit, leftMicrousd: left }
    }
    if (entry) entry.hold_microusd = amount
    else {
      const fresh = { state: 'held', hold_microusd: amount, cost_microusd: 0 } as const
      this.entries.push({ run, attempt, day, ...fresh })
    }
    return { granted: true }
  }

  sent(run: string, attempt: string): boolean {
    const entry = this.find(run, attempt)
    if (this.closed.has(run) || entry?.state !== 'held') return false
    entry.state = 'sent'
    return true
  }

  settle(run: string, attempt: string, amount: number): SettleResult {
    const entry = this.find(run, attempt)
    if (!entry) return 'unknown'
    if (entry.state === 'released') return 'released'
    if (entry.state === 'settled') return 'settled_before'
    Object.assign(entry, { state: 'settled', cost_microusd: amount })
    return 'settled'
  }

  closeRun(run: string, costs: ReadonlyMap<string, number>): void {
    this.closed.add(run)
    for (const [attempt, cost] of costs) this.settle(run, attempt, cost)
    for (const entry of this.entries.filter((each) => each.run === run)) {
      if (entry.state === 'held') entry.state = 'released'
      if (entry.state === 'sent') this.settle(run, entry.attempt, entry.hold_microusd)
    }
  }
}

type Subject = { ledger: Ledger; model: Model; clock: { now: Date } }
type Operation = (subject: Subject) => Promise<void>

const run = fc.constantFrom('run-a', 'run-b', 'run-c')
const attempt = fc.constantFrom('1.1', '1.2', '2.1', '10.1')
const amount = fc.integer({ min: 0, max: 400 })
const limits = fc.record({
  project: fc.integer({ min: 0, max: 2000 }),
  day: fc.integer({ min: 0, max: 1500 }),
  run: fc.integer({ min: 0, max: 1000 }),
})

const hold = fc.tuple(run, attempt, amount, limits).map((args): Operation => {
  return async ({ ledger, model }) =>
    expect(await ledger.hold(...args)).toEqual(model.hold(...args))
})
const sent = fc.tuple(run, attempt).map((args): Operation => {
  return async ({ ledger, model }) => expect(await ledger.sent(...args)).toBe(model.sent(...args))
})
const settle = fc.tuple(run, attempt, amount).map((args): Operation => {
  return async ({ ledger, model }) =>
    expect(await ledger.settle(...args)).toBe(model.settle(...args))
})
const costs = fc.array(fc.tuple(attempt, amount), { maxLength: 3 }).map((all) => new Map(all))
const close = fc.tuple(run, costs).map((args): Operation => {
  return async ({ ledger, model }) => {
    await ledger.closeRun(...args)
    model.closeRun(...args)
  }
})
const midnight = fc.constant<Operation>(async ({ clock, model }) => {
  clock.now = new Date(clock.now.getTime() + DAY_MS)
  model.day = dayOf(clock.now)
})
const operations = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: hold },
    { weight: 3, arbitrary: sent },
    { weight: 3, arbitrary: settle },
    { weight: 1, arbitrary: close },
    { weight: 1, arbitrary: midnight },
  ),
  { minLength: 1, maxLength: 40 },
)

it('does what a plain list of attempts would do, whatever is asked in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(operations, async (sequence) => {
      await redis.flushall()
      const home = await mkdtemp(join(tmpdir(), 'astra-ledger-'))
      await mkdir(join(home, 'ledger'))
      const clock = { now: new Date('2026-11-29T23:00:00.000Z') }
      const model = new Model()
      const ledger = openLedger(redis, home, { now: () => clock.now })
      try {
        for (const operate of sequence) await operate({ ledger, model, clock })
        await expectSameState(home, model, clock.now)
      } finally {
        await rm(home, { recursive: true, force: true })
      }
    }),
    { numRuns: 80 },
  )
})

async function expectSameState(home: string, model: Model, now: Date): Promise<void> {
  const days = lastDays(now, 41)
  const expected = sumOf(model.entries)
  const totals = await allTotals(redis, home, 'live', days)
  const { lastLine, seqs, ...sums } = totals
  for (const sum of Object.values(sums)) expect(sum).toEqual(expected)
  expect(lastLine ?? expected).toEqual(expected)
  expect(seqs).toEqual(seqs.map((_, i) => i + 1))
  const ofDays = days.map((day) => sumOf(model.entries.filter((each) => each.day === day)))
  expect(await readDayAmounts(redis, 'live', days)).toEqual(ofDays)
}
