import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../services/agent-runner/budget/ledger.ts'
import { readProjectAmounts } from '../../shared/contracts/ledger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { openLedger, readEvidence } from '../support/ledger.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

/** Long enough for a Redis that is only slow. */
const WAIT_MS = 3000

let server: TestRedis
let redis: Redis
let home: string
let ledger: Ledger

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-ledger-'))
  server = await startRedis()
  redis = connectOrFail(server.address, { waitMs: WAIT_MS })
  redis.on('error', () => {})
  ledger = openLedger(redis, home)
  await ledger.hold('run-a', '1.1', 100, limits)
})
afterEach(async () => {
  redis.disconnect()
  await server.stop()
  await rm(home, { recursive: true, force: true })
})

const limits = { project: 1000, day: 1000, run: 1000 }

describe('the ledger refuses to hold and to mark as sent', () => {
  it('while Redis is away', async () => {
    const gone = await startRedis()
    const connection = connectOrFail(gone.address, { waitMs: WAIT_MS })
    connection.on('error', () => {})
    const away = openLedger(connection, home)
    await away.hold('run-a', '1.1', 100, limits)
    await gone.stop()
    await expect(away.sent('run-a', '1.1')).rejects.toThrow()
    await expect(away.hold('run-a', '2.1', 100, limits)).rejects.toThrow()
    connection.disconnect()
  })

  it('while Redis hangs, and what it did late is not done twice', async () => {
    process.kill(server.pid, 'SIGSTOP')
    try {
      await expect(ledger.hold('run-a', '2.1', 100, limits)).rejects.toThrow(/timed out/)
    } finally {
      process.kill(server.pid, 'SIGCONT')
    }
    expect(await ledger.hold('run-a', '2.1', 100, limits)).toEqual({ granted: true })
    expect((await readProjectAmounts(redis, 'live')).held).toBe(200)
  })

  it('while Redis is full, and changes nothing by halves', async () => {
    await redis.config('SET', 'maxmemory', '1')
    await expect(ledger.hold('run-a', '2.1', 100, limits)).rejects.toThrow(/OOM/)
    await expect(ledger.sent('run-a', '1.1')).rejects.toThrow(/OOM/)
    await expect(ledger.settle('run-a', '1.1', 50)).rejects.toThrow(/OOM/)
    await redis.config('SET', 'maxmemory', '0')
    expect(await readProjectAmounts(redis, 'live')).toEqual({ held: 100, sent: 0, settled: 0 })
    expect(await ledger.sent('run-a', '1.1')).toBe(true)
    expect((await readEvidence(home, 'live')).map(({ seq }) => seq)).toEqual([1, 2])
  })
})
