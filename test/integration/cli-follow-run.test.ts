import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findRun, listRuns } from '../../services/cli/find-run.ts'
import { followRun, startRun } from '../../services/cli/follow-run.ts'
import { InterruptError } from '../../services/cli/interrupt.ts'
import type { Services } from '../../services/cli/with-services.ts'
import { readConfig } from '../../shared/config.ts'
import type { RunRequest } from '../../shared/contracts/run.ts'
import {
  type RunEvent,
  type RunView,
  runEventsKey,
  runsIndexKey,
  runViewKey,
} from '../../shared/contracts/run-view.ts'
import { connect, connectOrFail, KEY_PREFIX } from '../../shared/queue/connection.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

let server: TestRedis
let redis: Redis
let services: Services
let folder: string
let interrupt: AbortController

beforeEach(async () => {
  server = await startRedis()
  folder = mkdtempSync(join(tmpdir(), 'astra-follow-'))
  redis = connectOrFail(server.address)
  interrupt = new AbortController()
  services = {
    config: { ...readConfig({ ASTRA_HOME: folder }), redis: server.address },
    redis,
    producer: createProducer(redis),
    blobs: null,
    interrupted: interrupt.signal,
  }
})
afterEach(async () => {
  await services.producer.close()
  redis.disconnect()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const request: RunRequest = {
  run_id: 'run-a',
  workspace: '/some/where',
  repository_id: 'path:x',
  prompt: 'repair it',
  mode: 'offline',
  recall: 'tool',
  priority: 'normal',
  approve_live_cost: false,
  command: null,
  path_env: '/usr/bin',
  limits: {
    max_requests: 1,
    max_tool_calls: 1,
    max_tokens: 1000,
    max_output_tokens: 16,
    time_seconds: 1,
    budget_microusd: 0,
  },
  created_at: '2026-11-29T10:00:00.000Z',
}

const event = (text: string): RunEvent => ({ type: 'note', at: '2026-11-29T10:00:00.000Z', text })

async function publish(status: RunView['status'], runId = 'run-a'): Promise<void> {
  const view = { ...(await viewOf(runId)), run_id: runId, status }
  await redis.zadd(runsIndexKey, Date.now(), runId)
  await redis.set(runViewKey(runId), JSON.stringify(view))
}

/** The queued view of a run that was never begun is the shortest way to a whole view. */
async function viewOf(runId: string): Promise<RunView> {
  await startRun(services.producer, { ...request, run_id: runId })
  return findRun(services, runId)
}

async function tell(text: string): Promise<void> {
  await redis.xadd(runEventsKey('run-a'), '*', 'event', JSON.stringify(event(text)))
}

describe('following a run', () => {
  it('tells every event from the first on and returns when the view says that it ended', async () => {
    await publish('running')
    await tell('before')
    const heard: string[] = []
    const view = await followRun(services, 'run-a', ({ text }) => {
      heard.push(text)
      if (text === 'before') void tell('meanwhile')
      if (text === 'meanwhile') void publish('fixed')
    })
    expect(heard).toEqual(['before', 'meanwhile'])
    expect(view.status).toBe('fixed')
  })

  it('does not need the events: the view alone ends it', async () => {
    await publish('running')
    const following = followRun(services, 'run-a', () => {})
    await publish('not_fixed')
    expect((await following).status).toBe('not_fixed')
  })

  it('says why a run could not be begun, when its first job failed for good', async () => {
    await startRun(services.producer, request)
    const connection = connect(server.address)
    const worker = new Worker('runs', () => Promise.reject(new Error('disk is full')), {
      connection,
      prefix: KEY_PREFIX,
    })
    worker.on('error', () => {})
    try {
      await expect(followRun(services, 'run-a', () => {})).rejects.toThrow(
        /run-a could not be begun: disk is full/,
      )
    } finally {
      await worker.close()
      connection.disconnect()
    }
  })

  it('stops at an interrupt', async () => {
    await publish('running')
    const following = followRun(services, 'run-a', () => interrupt.abort(new InterruptError()))
    await tell('go')
    await expect(following).rejects.toThrow(InterruptError)
  })
})

describe('finding runs', () => {
  it('shows a run as queued before an agent-runner has begun it', async () => {
    await startRun(services.producer, request)
    expect(await findRun(services, 'run-a')).toMatchObject({
      run_id: 'run-a',
      status: 'queued',
      workspace: '/some/where',
      cost_is_notional: true,
    })
  })

  it('adds one job for a run, however often it is asked for', async () => {
    await startRun(services.producer, request)
    await startRun(services.producer, request)
    expect(await services.producer.queue('runs').getJobCountByTypes('prioritized')).toBe(1)
  })

  it('names a run that does not exist', async () => {
    await expect(findRun(services, 'run-x')).rejects.toThrow(/there is no run run-x/)
  })

  it('lists queued runs before begun ones, each once, up to the limit', async () => {
    await publish('fixed', 'run-b')
    await startRun(services.producer, { ...request, run_id: 'run-c' })
    const ids = async (limit: number) =>
      (await listRuns(services, limit)).map((view) => `${view.run_id} ${view.status}`)
    expect(await ids(10)).toEqual(['run-c queued', 'run-b fixed'])
    expect(await ids(1)).toEqual(['run-c queued'])
  })
})
