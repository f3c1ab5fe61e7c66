import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createJournalStore,
  type JournalStore,
} from '../../services/agent-runner/journal/journal-store.ts'
import { readRunEvents, readRunView } from '../../shared/contracts/run-view.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { sampleView } from '../support/run-view.ts'
import { runRequest } from '../support/simulated-run.ts'

const RUN = 'run-test'
const at = '2026-01-01T00:00:00.000Z'

let server: TestRedis
let redis: Redis
let store: JournalStore
beforeAll(async () => {
  server = await startRedis()
  redis = connectOrFail(server.address)
  store = createJournalStore(redis)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})
beforeEach(() => redis.flushall())

const start = { at, request: runRequest, model: 'test', settings: null, refusal: null }
const end = { at, status: 'fixed', reason: 'tests_pass', message: '', final_text: null } as const
const view = (status: 'running' | 'fixed') => sampleView({ run_id: RUN, status })

describe('the journal', () => {
  it('keeps the first entry of a field, and its event once', async () => {
    const event = { type: 'started', text: 'begun' } as const
    expect(await store.append(RUN, 'start', start, event)).toBe(true)
    expect(await store.append(RUN, 'start', { ...start, model: 'other' }, event)).toBe(false)
    expect((await store.load(RUN)).start?.model).toBe('test')
    expect((await readRunEvents(redis, RUN, '0', 1)).events).toHaveLength(1)
  })

  it('refuses an entry that it could not read again, and writes nothing', async () => {
    const bad = { ...start, model: 7 as unknown as string }
    await expect(store.append(RUN, 'start', bad)).rejects.toThrow(/model/)
    expect(await redis.exists(`{astra}:run:${RUN}:journal`)).toBe(0)
  })

  it('delivers a result once', async () => {
    expect(await store.deliver(RUN, 'call:a', { ok: true, value: 1 })).toBe(true)
    expect(await store.deliver(RUN, 'call:a', { ok: false, error: 'late' })).toBe(false)
    expect((await store.load(RUN)).inbox.get('call:a')).toEqual({ ok: true, value: 1 })
  })

  it('tells of a delivered result once, however often it is delivered', async () => {
    const event = { type: 'result', text: 'came' } as const
    for (const value of [1, 2]) await store.deliver(RUN, 'call:a', { ok: true, value }, event)
    const { events } = await readRunEvents(redis, RUN, '0', 1)
    expect(events.map(({ text }) => text)).toEqual(['came'])
  })

  it('lists a run as unfinished from its start until it is retired', async () => {
    await store.append(RUN, 'start', start)
    expect(await store.unfinished()).toEqual([RUN])
    await store.retire(RUN)
    expect(await store.unfinished()).toEqual([])
  })
})

describe('the view', () => {
  it('of an ended run is not overwritten by a worker that was frozen while it still ran', async () => {
    await store.append(RUN, 'start', start)
    await store.publish(view('running'))
    await store.append(RUN, 'end', end)
    await store.publish(view('fixed'))
    await store.publish(view('running'))
    expect((await readRunView(redis, RUN))?.status).toBe('fixed')
  })
})
