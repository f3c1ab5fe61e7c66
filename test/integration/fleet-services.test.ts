import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holdFleet, missingServices } from '../../services/cli/hold-fleet.ts'
import { withServices } from '../../services/cli/with-services.ts'
import { readConfig } from '../../shared/config.ts'
import { type Heartbeat, startHeartbeat } from '../../shared/heartbeat.ts'
import { createLogger } from '../../shared/logger.ts'
import type { connectOrFail } from '../../shared/queue/connection.ts'
import { connectTo, type NetworkRedis, startNetworkRedis } from '../support/network-redis.ts'

const NEEDED = ['agent-runner', 'test-runner', 'memory-store', 'embedder']
const log = createLogger('test', 'fatal')

let redis: NetworkRedis
let connection: ReturnType<typeof connectOrFail>
let home: string
let beating: Map<string, ReturnType<typeof startHeartbeat>>

beforeEach(async () => {
  redis = await startNetworkRedis()
  connection = connectTo(redis)
  home = await mkdtemp(join(tmpdir(), 'astra-fleet-'))
  beating = new Map()
})
afterEach(async () => {
  for (const each of beating.values()) await each.stop()
  connection.disconnect()
  await redis.stop()
  await rm(home, { recursive: true, force: true })
})

/** This process says that it is those services. */
async function beat(services: readonly string[]): Promise<void> {
  for (const service of services) beating.set(service, startHeartbeat(service, connection, log))
  await expect.poll(() => missingServices(connection)).toEqual(missingFrom(services))
}

const missingFrom = (services: readonly string[]) =>
  expect.toSatisfy((missing: string[]) => {
    const absent = NEEDED.filter((service) => !services.includes(service))
    return missing.length === absent.length && absent.every((service) => missing.includes(service))
  })

const config = () => readConfig({ ASTRA_HOME: home, REDIS_URL: redis.url })
const host = (unsafeNoSandbox = false) => ({
  env: {},
  interrupted: new AbortController().signal,
  unsafeNoSandbox,
})

describe('a command with REDIS_URL', () => {
  it('uses the services of the fleet, and starts none', async () => {
    await beat(NEEDED)
    const lines: string[] = []
    const blobs = await withServices(
      config(),
      host(),
      (line) => lines.push(line),
      async (services) => {
        expect(await services.redis.ping()).toBe('PONG')
        return services.blobs
      },
    )
    expect(blobs).not.toBeNull()
    expect(lines).toEqual([])
    expect(existsSync(join(home, 'run'))).toBe(false)
  })

  it('cannot have the fleet run tests without a sandbox', async () => {
    await beat(NEEDED)
    const used = withServices(
      config(),
      host(true),
      () => {},
      async () => {},
    )
    await expect(used).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('astra up'),
    })
  })
})

describe('the services that a fleet lacks', () => {
  it('are those without a heartbeat', async () => {
    await beat(['agent-runner', 'embedder', 'offline-model'])
    expect((await missingServices(connection)).sort()).toEqual(['memory-store', 'test-runner'])
  })

  it('are those, too, that were killed on this machine a moment ago', async () => {
    await beat(NEEDED.slice(1))
    const { pid } = spawnSync('true')
    const killed = { service: 'agent-runner', host: hostname(), pid, version: '0', queues: {} }
    const text = JSON.stringify({
      ...killed,
      started_at: new Date().toISOString(),
    } satisfies Heartbeat)
    await connection.multi().set('{astra}:heartbeat:x', text).sadd('{astra}:heartbeats', 'x').exec()
    expect(await missingServices(connection)).toEqual(['agent-runner'])
    const elsewhere = text.replace(hostname(), 'elsewhere.example')
    await connection.set('{astra}:heartbeat:x', elsewhere)
    expect(await missingServices(connection)).toEqual([])
  })

  it('are started here when they go while a command uses them, and released with it', async () => {
    await beat(NEEDED)
    const started: string[][] = []
    let released = 0
    const lease = holdFleet(connection, async (missing) => {
      started.push(missing)
      return {
        async release() {
          released += 1
        },
      }
    })
    await beating.get('memory-store')?.stop()
    await expect.poll(() => started).toEqual([['memory-store']])
    await lease.release()
    expect(released).toBe(1)
  })
})
