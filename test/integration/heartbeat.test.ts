import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { redisSocketPath } from '../../shared/config.ts'
import { type Heartbeat, listHeartbeats } from '../../shared/heartbeat.ts'
import { productVersion } from '../../shared/product-version.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'

describe('the heartbeat of a service', () => {
  let home: string
  let redis: TestRedis
  let client: ReturnType<typeof connectOrFail>
  const services: ServiceProcess[] = []

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'astra-heartbeat-'))
    redis = await startRedis(redisSocketPath(home, {}))
    client = connectOrFail(redis.address)
  })

  afterEach(async () => {
    for (const service of services.splice(0)) {
      if (service.child.exitCode === null) await service.end('SIGKILL')
    }
    client.disconnect()
    await redis.stop()
    await rm(home, { recursive: true, force: true })
  })

  async function start(): Promise<ServiceProcess> {
    const service = await startService('embedder', home)
    services.push(service)
    return service
  }

  async function until(holds: (beats: Heartbeat[]) => boolean): Promise<Heartbeat[]> {
    return expect
      .poll(() => listHeartbeats(client))
      .toSatisfy(holds)
      .then(() => listHeartbeats(client))
  }

  it('says what it is, where it runs and which work it takes', async () => {
    const { child } = await start()
    const [beat] = await until((beats) => beats.length === 1)
    expect(beat).toEqual({
      service: 'embedder',
      host: hostname(),
      pid: child.pid,
      started_at: expect.any(String),
      version: productVersion(),
      queues: { embeddings: { concurrency: 8, in_hand: 0 } },
    })
    const age = Date.now() - Date.parse(beat?.started_at ?? '')
    expect(age).toBeGreaterThan(0)
    expect(age).toBeLessThan(60_000)
  })

  it('is gone at once after a clean end, and by itself after a kill', async () => {
    const clean = await start()
    const killed = await start()
    await until((beats) => beats.length === 2)
    expect(await clean.end('SIGTERM')).toBe(0)
    const left = await listHeartbeats(client)
    expect(left.map(({ pid }) => pid)).toEqual([killed.child.pid])
    await killed.end('SIGKILL')
    expect(await listHeartbeats(client)).toHaveLength(1)
    await until((beats) => beats.length === 0)
    expect(await client.keys('*heartbeat*')).toEqual([])
  })

  it('comes back when Redis does', async () => {
    const service = await start()
    await until((beats) => beats.length === 1)
    client.disconnect()
    await redis.stop()
    redis = await startRedis(redisSocketPath(home, {}))
    client = connectOrFail(redis.address)
    const [beat] = await until((beats) => beats.length === 1)
    expect(beat?.pid).toBe(service.child.pid)
  })
})
