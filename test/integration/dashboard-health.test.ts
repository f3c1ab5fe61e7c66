import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisSocketPath } from '../../shared/config.ts'
import { startDashboardApp, type TestDashboard } from '../support/dashboard.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'

let home: string
let redis: TestRedis
let dashboard: TestDashboard
let embedder: ServiceProcess
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-health-'))
  redis = await startRedis(redisSocketPath(home, {}))
  dashboard = await startDashboardApp(redis.address, home)
  embedder = await startService('embedder', home)
})
afterAll(async () => {
  if (embedder.child.exitCode === null) await embedder.end('SIGKILL')
  await dashboard.stop()
  await rm(home, { recursive: true, force: true })
})

describe('/healthz', () => {
  const read = async () => {
    const response = await fetch(`${dashboard.url}/healthz`)
    return { status: response.status, body: await response.json() }
  }

  it('is 503 and names the services that are not there, and counts those that are', async () => {
    await expect.poll(read, { timeout: 10_000 }).toEqual({
      status: 503,
      body: {
        ok: false,
        redis: null,
        services: { 'agent-runner': 0, 'test-runner': 0, 'memory-store': 0, embedder: 1 },
        missing: ['agent-runner', 'test-runner', 'memory-store'],
      },
    })
  })

  it('names one at once that has ended', async () => {
    expect(await embedder.end('SIGTERM')).toBe(0)
    const { body } = await read()
    expect(body).toMatchObject({ missing: expect.arrayContaining(['embedder']) })
  })

  it('is 503 within seconds when Redis does not answer, or is not there', async () => {
    process.kill(redis.pid, 'SIGSTOP')
    const hung = await read()
    expect(hung).toMatchObject({ status: 503, body: { ok: false, missing: ['redis'] } })
    process.kill(redis.pid, 'SIGCONT')
    await redis.stop()
    const gone = await read()
    expect(gone).toMatchObject({ status: 503, body: { ok: false, missing: ['redis'] } })
  })
})
