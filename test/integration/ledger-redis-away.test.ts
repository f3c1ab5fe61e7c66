import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { openLedger } from '../support/ledger.ts'
import { startRedis } from '../support/redis.ts'

it('refuses to hold and to mark as sent while Redis is away', async () => {
  const home = await mkdtemp(join(tmpdir(), 'astra-ledger-'))
  const server = await startRedis()
  const redis = connectOrFail(server.address, { waitMs: 400 })
  redis.on('error', () => {})
  const ledger = openLedger(redis, home)
  const limits = { project: 1000, day: 1000, run: 1000 }
  await ledger.hold('run-a', '1.1', 100, limits)
  await server.stop()
  await expect(ledger.sent('run-a', '1.1')).rejects.toThrow()
  await expect(ledger.hold('run-a', '2.1', 100, limits)).rejects.toThrow()
  redis.disconnect()
  await rm(home, { recursive: true, force: true })
})
