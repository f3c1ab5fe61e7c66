import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../services/agent-runner/budget/ledger.ts'
import {
  ledgerKeys,
  readDayAmounts,
  readProjectAmounts,
  readRunCosts,
} from '../../shared/contracts/ledger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { openLedger } from '../support/ledger.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

let server: TestRedis
let redis: Redis
let home: string
let now: Date
let ledger: Ledger

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
  now = new Date('2026-11-29T12:00:00.000Z')
  ledger = openLedger(redis, home, { now: () => now })
})

const wide = { project: 1_000_000, day: 1_000_000, run: 1_000_000 }
const granted = { granted: true }
const amounts = (scope: 'live' | 'notional' = 'live') => readProjectAmounts(redis, scope)
const stateOf = async (run: string, attempt: string) =>
  (await readRunCosts(redis, 'live', run))?.attempts.find((each) => each.attempt === attempt)

describe('a hold', () => {
  it('is never granted above the limit, however many ask at once', async () => {
    const asked = Array.from({ length: 100 }, (_, i) =>
      ledger.hold(`run-${i}`, '1.1', 30, { ...wide, project: 1000 }),
    )
    expect((await Promise.all(asked)).filter((result) => result.granted)).toHaveLength(33)
    expect(await amounts()).toEqual({ held: 990, sent: 0, settled: 0 })
  })

  it.each(['project', 'day', 'run'] as const)(
    'that would cross the limit of the %s is refused with its name and what is left',
    async (limit) => {
      await ledger.hold('run-a', '1.1', 60, wide)
      expect(await ledger.hold('run-a', '2.1', 41, { ...wide, [limit]: 100 })).toEqual({
        granted: false,
        limit,
        leftMicrousd: 40,
      })
      expect(await ledger.hold('run-a', '2.1', 40, { ...wide, [limit]: 100 })).toEqual(granted)
    },
  )

  it('says that nothing is left when more was booked than the limit allows', async () => {
    await ledger.hold('run-a', '1.1', 10, wide)
    await ledger.settle('run-a', '1.1', 500)
    expect(await ledger.hold('run-a', '2.1', 1, { ...wide, run: 100 })).toEqual({
      granted: false,
      limit: 'run',
      leftMicrousd: 0,
    })
  })

  it('of nothing is granted even then: a local server costs nothing', async () => {
    expect(await ledger.hold('run-a', '1.1', 0, { project: 0, day: 0, run: 0 })).toEqual(granted)
  })

  it('is taken once when it is repeated', async () => {
    await ledger.hold('run-a', '1.1', 50, wide)
    expect(await ledger.hold('run-a', '1.1', 50, { ...wide, run: 60 })).toEqual(granted)
    expect((await amounts()).held).toBe(50)
  })

  it('that is repeated with more takes the rest, within the limits', async () => {
    await ledger.hold('run-a', '1.1', 50, wide)
    const refused = await ledger.hold('run-a', '1.1', 80, { ...wide, day: 70 })
    expect(refused).toEqual({ granted: false, limit: 'day', leftMicrousd: 20 })
    expect(await ledger.hold('run-a', '1.1', 80, { ...wide, day: 80 })).toEqual(granted)
    expect((await amounts()).held).toBe(80)
  })

  it('is not granted to an attempt that was sent, has an end, or whose run is closed', async () => {
    await ledger.hold('run-a', '1.1', 50, wide)
    await ledger.sent('run-a', '1.1')
    const refused = { granted: false, limit: null }
    expect(await ledger.hold('run-a', '1.1', 50, wide)).toEqual({ ...refused, state: 'sent' })
    await ledger.settle('run-a', '1.1', 50)
    expect(await ledger.hold('run-a', '1.1', 50, wide)).toEqual({ ...refused, state: 'settled' })
    await ledger.closeRun('run-a', new Map())
    expect(await ledger.hold('run-a', '2.1', 50, wide)).toEqual({ ...refused, state: 'closed' })
  })

  it.each([
    ['no limit', 50, Number.NaN],
    ['an unlimited limit', 50, Number.POSITIVE_INFINITY],
    ['a part of a micro-dollar', 0.5, 100],
    ['a negative amount', -1, 100],
  ])('with %s throws and takes nothing', async (_title, amount, day) => {
    await expect(ledger.hold('run-a', '1.1', amount, { ...wide, day })).rejects.toThrow(RangeError)
    expect(await redis.keys('*')).toEqual([])
  })
})

describe('sent', () => {
  it('is said once of a held attempt, by one process only', async () => {
    await ledger.hold('run-a', '1.1', 50, wide)
    const said = await Promise.all([1, 2, 3].map(() => ledger.sent('run-a', '1.1')))
    expect(said.filter(Boolean)).toHaveLength(1)
    expect(await amounts()).toEqual({ held: 0, sent: 50, settled: 0 })
  })

  it('is refused where nothing is held', async () => {
    expect(await ledger.sent('run-a', '1.1')).toBe(false)
    await ledger.hold('run-a', '1.1', 50, wide)
    await ledger.closeRun('run-a', new Map())
    expect(await ledger.sent('run-a', '1.1')).toBe(false)
  })
})

describe('settling', () => {
  it('frees what the hold did not need, and counts once', async () => {
    await ledger.hold('run-a', '1.1', 90, wide)
    await ledger.sent('run-a', '1.1')
    const settled = await Promise.all(
      [20, 20, 30].map((cost) => ledger.settle('run-a', '1.1', cost)),
    )
    expect(settled).toEqual(['settled', 'settled_before', 'settled_before'])
    expect(await amounts()).toEqual({ held: 0, sent: 0, settled: 20 })
  })

  it('books in full what was dearer than held', async () => {
    await ledger.hold('run-a', '1.1', 90, wide)
    await ledger.sent('run-a', '1.1')
    await ledger.settle('run-a', '1.1', 120)
    expect((await amounts()).settled).toBe(120)
  })

  it('is refused as a value where nothing is held', async () => {
    expect(await ledger.settle('run-a', '1.1', 10)).toBe('unknown')
    await ledger.hold('run-a', '1.1', 50, wide)
    await ledger.closeRun('run-a', new Map())
    expect(await ledger.settle('run-a', '1.1', 10)).toBe('released')
    expect(await amounts()).toEqual({ held: 0, sent: 0, settled: 0 })
  })
})

describe('closing a run', () => {
  it('settles what is known, releases what was only held, charges what was sent without an end', async () => {
    for (const attempt of ['1.1', '2.1', '3.1']) await ledger.hold('run-a', attempt, 100, wide)
    await ledger.sent('run-a', '1.1')
    await ledger.sent('run-a', '2.1')
    const close = () => ledger.closeRun('run-a', new Map([['1.1', 7]]))
    await Promise.all([close(), close(), close()])
    expect(await stateOf('run-a', '1.1')).toMatchObject({ state: 'settled', cost_microusd: 7 })
    expect(await stateOf('run-a', '2.1')).toMatchObject({ state: 'settled', cost_microusd: 100 })
    expect(await stateOf('run-a', '3.1')).toMatchObject({ state: 'released', cost_microusd: 0 })
    expect(await amounts()).toEqual({ held: 0, sent: 0, settled: 107 })
  })

  it('leaves other runs as they are', async () => {
    await ledger.hold('run-a', '1.1', 100, wide)
    await ledger.hold('run-ab', '1.1', 100, wide)
    await ledger.closeRun('run-a', new Map())
    expect((await stateOf('run-ab', '1.1'))?.state).toBe('held')
  })

  it('lets its attempts be forgotten after 90 days, and not before', async () => {
    await ledger.hold('run-a', '1.1', 100, wide)
    expect(await redis.ttl(ledgerKeys('live').run('run-a'))).toBe(-1)
    await ledger.closeRun('run-a', new Map())
    expect(await redis.ttl(ledgerKeys('live').run('run-a'))).toBe(90 * 24 * 3600)
  })
})

describe('a UTC day', () => {
  const limits = { ...wide, day: 100 }

  it('begins with its whole budget at midnight, and the project does not', async () => {
    now = new Date('2026-11-29T23:59:59.999Z')
    await ledger.hold('run-a', '1.1', 100, limits)
    expect(await ledger.hold('run-a', '2.1', 1, limits)).toMatchObject({ limit: 'day' })
    now = new Date('2026-11-30T00:00:00.000Z')
    expect(await ledger.hold('run-a', '2.1', 100, { ...limits, project: 150 })).toEqual({
      granted: false,
      limit: 'project',
      leftMicrousd: 50,
    })
    expect(await ledger.hold('run-a', '2.1', 100, limits)).toEqual(granted)
  })

  it('is charged for what was held in it, whenever that ends', async () => {
    now = new Date('2026-11-29T23:59:59.999Z')
    await ledger.hold('run-a', '1.1', 100, limits)
    now = new Date('2026-11-30T00:00:01.000Z')
    await ledger.sent('run-a', '1.1')
    await ledger.settle('run-a', '1.1', 40)
    expect(await readDayAmounts(redis, 'live', ['2026-11-30', '2026-11-29'])).toEqual([
      { held: 0, sent: 0, settled: 0 },
      { held: 0, sent: 0, settled: 40 },
    ])
  })

  it('is forgotten after 400 days', async () => {
    await ledger.hold('run-a', '1.1', 100, limits)
    now = new Date('2028-01-10T00:00:00.000Z')
    await ledger.hold('run-b', '1.1', 100, limits)
    const days = Object.keys(await redis.hgetall(ledgerKeys('live').days))
    expect(days.every((field) => field.startsWith('2028-01-10'))).toBe(true)
    expect((await amounts()).held).toBe(200)
  })
})

describe('the scopes', () => {
  it('keep what the stand-in would have cost apart from money', async () => {
    const notional = openLedger(redis, home, { scope: 'notional', now: () => now })
    await notional.hold('run-a', '1.1', 100, { project: 100, day: 100, run: 100 })
    expect(await ledger.hold('run-a', '1.1', 100, { project: 100, day: 100, run: 100 })).toEqual(
      granted,
    )
    await notional.closeRun('run-a', new Map([['1.1', 5]]))
    expect(await amounts('notional')).toEqual({ held: 0, sent: 0, settled: 5 })
    expect(await amounts()).toEqual({ held: 100, sent: 0, settled: 0 })
  })
})
