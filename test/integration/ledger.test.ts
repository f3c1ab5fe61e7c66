import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLedger } from '../../services/agent-runner/budget/ledger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
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
beforeEach(() => redis.flushall())

const wide = { project: 1_000_000, run: 1_000_000 }

describe('the budget ledger', () => {
  it('never grants more than the limit, however many ask at once', async () => {
    const ledger = createLedger(redis, 'live')
    const asked = Array.from({ length: 100 }, (_, i) =>
      ledger.hold(`run-${i}`, '1.1', 30, { project: 1000, run: 1000 }),
    )
    const granted = (await Promise.all(asked)).filter((result) => result.granted)
    expect(granted).toHaveLength(33)
  })

  it('names the limit that has no room and what is left of it', async () => {
    const ledger = createLedger(redis, 'live')
    await ledger.hold('run-a', '1.1', 60, { project: 1000, run: 100 })
    expect(await ledger.hold('run-a', '2.1', 50, { project: 1000, run: 100 })).toEqual({
      granted: false,
      limit: 'run',
      leftMicrousd: 40,
    })
    expect(await ledger.hold('run-b', '1.1', 50, { project: 100, run: 100 })).toEqual({
      granted: false,
      limit: 'project',
      leftMicrousd: 40,
    })
  })

  it('frees what a settled hold did not use', async () => {
    const ledger = createLedger(redis, 'live')
    await ledger.hold('run-a', '1.1', 90, { project: 100, run: 100 })
    await ledger.settle('run-a', '1.1', 20)
    expect(await ledger.hold('run-a', '2.1', 80, { project: 100, run: 100 })).toEqual({
      granted: true,
    })
  })

  it('settles once and grants a repeated hold once', async () => {
    const ledger = createLedger(redis, 'live')
    await ledger.hold('run-a', '1.1', 50, wide)
    await ledger.hold('run-a', '1.1', 50, wide)
    await ledger.settle('run-a', '1.1', 40)
    await ledger.settle('run-a', '1.1', 40)
    expect(await redis.hgetall('{astra}:ledger:live')).toEqual({ held: '0', settled: '40' })
  })

  it('keeps what the stand-in would have cost apart from money', async () => {
    await createLedger(redis, 'notional').hold('run-a', '1.1', 100, { project: 100, run: 100 })
    const live = await createLedger(redis, 'live').hold('run-a', '1.1', 100, {
      project: 100,
      run: 100,
    })
    expect(live).toEqual({ granted: true })
  })
})
