import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startRun } from '../../services/cli/follow-run.ts'
import { removeAbandonedFolders } from '../../services/test-runner/copy/test-folder.ts'
import { killAbandoned } from '../../services/test-runner/run/process-tree.ts'
import { redisSocketPath } from '../../shared/config.ts'
import {
  cancelledChannel,
  cancelledKey,
  markCancelled,
} from '../../shared/contracts/cancellation.ts'
import { startJobId } from '../../shared/contracts/run.ts'
import { readRunEvents, readRunView } from '../../shared/contracts/run-view.ts'
import { connect, KEY_PREFIX } from '../../shared/queue/connection.ts'
import { createProducer, type Producer } from '../../shared/queue/producer.ts'
import { type LingeringTests, listenToTests } from '../support/lingering-tests.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { runRequest } from '../support/simulated-run.ts'
import { pathEnv, writeSnapshot } from '../support/test-runner.ts'

let home: string
let server: TestRedis
let redis: Redis
let producer: Producer
let tests: LingeringTests
let services: ServiceProcess[]

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-home-'))
  server = await startRedis(redisSocketPath(home, process.env))
  redis = connect(server.address)
  producer = createProducer(redis)
  tests = await listenToTests(home)
  services = []
  // Live runs, so that nothing refuses them, and a port at which nobody can be asked.
  const settings = { OPENAI_API_KEY: 'sk-fake', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
  await configure({ ...settings, ASTRA_RUN_CONCURRENCY: '1' })
})
afterEach(async () => {
  for (const { child, end } of services) {
    if (child.exitCode === null && child.signalCode === null) await end('SIGKILL')
  }
  await tests.close()
  await producer.close()
  redis.disconnect()
  await server.stop()
  await killAbandoned(home)
  await removeAbandonedFolders(home)
  await rm(home, { recursive: true, force: true })
})

async function configure(settings: Record<string, string>): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(home, '.env'), lines.join(''))
}

async function start(name: string): Promise<ServiceProcess> {
  const service = await startService(name, home)
  services.push(service)
  return service
}

/** A run whose tests begin and then linger. */
async function testing(runId: string) {
  await writeSnapshot(home, runId, tests.project(runId), { links: tests.links })
  const payload = { run_id: runId, path_env: pathEnv, command: null }
  await producer.add('tests', 'baseline', payload, { jobId: runId })
}

const job = async (id: string) => {
  const found = await producer.queue('tests').getJob(id)
  return { state: await found?.getState(), why: found?.failedReason, tries: found?.attemptsMade }
}

const cancelled = (runId: string) => ({
  state: 'failed',
  why: `run ${runId} was cancelled`,
  tries: 1,
})

describe('the tests of a cancelled run', () => {
  it('are killed at once and for good, and those of another run go on', async () => {
    await start('test-runner')
    await Promise.all([testing('run-a'), testing('run-b')])
    const [a, b] = await Promise.all([tests.begun(1, 'run-a'), tests.begun(1, 'run-b')])
    // Without a mark that could be seen by looking: the message alone is what is at once.
    await redis.publish(cancelledChannel, 'run-a')
    await a.gone
    await expect.poll(() => job('run-a')).toEqual(cancelled('run-a'))

    expect(b.isGone()).toBe(false)
    b.release()
    await expect.poll(() => job('run-b')).toMatchObject({ state: 'completed' })
    expect(tests.count('run-a')).toBe(1)
  })

  it('are killed when the message of the cancel was lost', async () => {
    await start('test-runner')
    await testing('run-a')
    const a = await tests.begun(1, 'run-a')
    await redis.set(cancelledKey('run-a'), 'now')
    await a.gone
    await expect.poll(() => job('run-a')).toEqual(cancelled('run-a'))
  })

  it('are killed when the test-runner was not listening for a moment', async () => {
    await start('test-runner')
    await testing('run-a')
    const a = await tests.begun(1, 'run-a')
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await markCancelled(redis, 'run-a')
    await a.gone
  })

  it('are not begun when they waited for their turn', async () => {
    await markCancelled(redis, 'run-a')
    await start('test-runner')
    await testing('run-a')
    await expect.poll(() => job('run-a')).toEqual(cancelled('run-a'))
    expect(tests.count('run-a')).toBe(0)
  })

  it('are not begun again after the test-runner was killed', async () => {
    const first = await start('test-runner')
    await testing('run-a')
    const a = await tests.begun(1, 'run-a')
    await first.end('SIGKILL')
    await markCancelled(redis, 'run-a')
    await start('test-runner')
    await a.gone
    await expect
      .poll(() => job('run-a'))
      .toMatchObject({ state: 'failed', why: 'run run-a was cancelled' })
    expect(tests.count('run-a')).toBe(1)
  })
})

describe('cancelling a run', () => {
  const isCancelled = { status: 'cancelled', reason: 'cancelled_by_user', requests: 0 }

  /** Asks for a run whose tests linger. */
  async function ask(runId: string): Promise<void> {
    await writeSnapshot(home, runId, tests.project(runId), { links: tests.links })
    const live = { mode: 'live', approve_live_cost: true } as const
    await startRun(producer, { ...runRequest, ...live, run_id: runId, path_env: pathEnv })
  }
  const cancel = (runId: string) => producer.add('runs', 'cancel', { run_id: runId })
  const statusOf = async (runId: string) => {
    const view = await readRunView(redis, runId)
    return view && { status: view.status, reason: view.reason, requests: view.requests }
  }
  const open = (queue: 'runs' | 'tests') =>
    producer.queue(queue).getJobCountByTypes('waiting', 'prioritized', 'active')

  it('ends it at once although its tests still wait, and they are skipped at their turn', async () => {
    await ask('run-a')
    await start('agent-runner')
    await expect.poll(() => open('tests')).toBe(1)
    await cancel('run-a')
    await expect.poll(() => statusOf('run-a')).toEqual(isCancelled)

    await start('test-runner')
    await expect.poll(() => open('tests')).toBe(0)
    await expect.poll(() => open('runs')).toBe(0)
    expect(tests.count('run-a')).toBe(0)
    expect(await statusOf('run-a')).toEqual(isCancelled)
  })

  it('ends one that was not begun before those that wait in front of it', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `run-${String.fromCharCode(97 + index)}`)
    for (const id of ids) await ask(id)
    const last = ids.at(-1) ?? ''
    await cancel(last)
    await start('agent-runner')
    await expect.poll(() => open('runs')).toBe(0)
    expect(await statusOf(last)).toEqual(isCancelled)
    expect(await statusOf('run-a')).toMatchObject({ status: 'running' })
    const begun = new Map<string, number>()
    for (const id of ids) {
      const job = await producer.queue('runs').getJob(startJobId(id))
      begun.set(id, job?.processedOn ?? 0)
    }
    const earlier = ids.filter((id) => (begun.get(id) ?? 0) < (begun.get(last) ?? 0))
    expect(earlier.length).toBeLessThanOrEqual(1)
  })

  it('works by its mark alone, whoever died before the job was added', async () => {
    await ask('run-a')
    await start('agent-runner')
    await start('test-runner')
    const { gone } = await tests.begun(1, 'run-a')
    await markCancelled(redis, 'run-a')
    await gone
    await expect.poll(() => statusOf('run-a')).toEqual(isCancelled)
  })

  it('twice is as once, and after its end it changes nothing', async () => {
    await ask('run-a')
    await Promise.all([cancel('run-a'), cancel('run-a')])
    await start('agent-runner')
    await expect.poll(() => statusOf('run-a')).toEqual(isCancelled)
    const { events } = await readRunEvents(redis, 'run-a', '0', 1)
    await cancel('run-a')
    await expect.poll(() => open('runs')).toBe(0)
    expect((await readRunEvents(redis, 'run-a', '0', 1)).events).toEqual(events)
    expect(events.filter((event) => event.type === 'ended')).toHaveLength(1)
  })

  it('leaves nothing behind of a run that does not exist', async () => {
    await start('agent-runner')
    await cancel('run-x')
    await expect.poll(() => open('runs')).toBe(0)
    expect(await redis.keys(`${KEY_PREFIX}:run:run-x:*`)).toEqual([])
  })
})
