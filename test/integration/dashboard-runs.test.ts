import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnrecoverableError, Worker } from 'bullmq'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callKey } from '../../services/agent-runner/journal/journal.ts'
import {
  createJournalStore,
  type JournalStore,
  type RunEventContent,
} from '../../services/agent-runner/journal/journal-store.ts'
import { resultEvent } from '../../services/agent-runner/journal/result-event.ts'
import { deliverJobId } from '../../services/agent-runner/tools/jobs.ts'
import { reviveDeliveries } from '../../services/agent-runner/tools/revive-deliveries.ts'
import { startJobId } from '../../shared/contracts/run.ts'
import { type RunView, runEventsKey } from '../../shared/contracts/run-view.ts'
import { KEY_PREFIX } from '../../shared/queue/connection.ts'
import { startDashboardApp, type TestDashboard } from '../support/dashboard.ts'
import { openEventStream } from '../support/event-stream.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { sampleView } from '../support/run-view.ts'
import { runRequest } from '../support/simulated-run.ts'

const at = '2026-11-29T10:00:00.000Z'
const SCRIPT = '<script>alert(1)</script>'
const IMAGE = '"><img src=x onerror=alert(1)>'
const hostile = `${SCRIPT} ${IMAGE} \u001b[31mred\u001b[0m\u202e half \ud800 a character`

let server: TestRedis
let home: string
let dashboard: TestDashboard
let store: JournalStore
let cookie: string
/** The dashboard's clock. */
let clock = Date.parse(at)

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-home-'))
  server = await startRedis()
  dashboard = await startDashboardApp(server.address, home, { now: () => new Date(clock) })
  store = createJournalStore(dashboard.deps.redis)
  cookie = (await dashboard.logIn()).cookie
})
afterAll(async () => {
  await dashboard?.stop()
  await server?.stop()
  await rm(home, { recursive: true, force: true })
})
beforeEach(() => dashboard.deps.redis.flushall())

async function get(path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(dashboard.url + path, { headers: { cookie } })
  return { status: response.status, text: await response.text() }
}

/** The runs of a page in their order. */
const runsIn = (text: string) => [...text.matchAll(/href="\/runs\/(run-[\w-]+)"/g)].map((m) => m[1])

const publish = (id: string, changes: Partial<RunView> = {}) =>
  store.publish(sampleView({ run_id: id, ...changes }))

/** A run that has begun and goes on. */
async function begin(id: string): Promise<void> {
  const request = { ...runRequest, run_id: id }
  const entry = { at, request, model: 'test', settings: null, refusal: null }
  await store.append(id, 'start', entry, {
    type: 'started',
    text: 'begun',
    details: { kind: 'started', limits: request.limits },
  })
  await publish(id, { status: 'running', reason: null, ended_at: null })
}

async function end(id: string): Promise<void> {
  const entry = {
    at,
    status: 'fixed',
    reason: 'tests_pass',
    message: '',
    final_text: null,
  } as const
  const details = { kind: 'ended', status: 'fixed', reason: 'tests_pass' } as const
  await store.append(id, 'end', entry, { type: 'ended', text: 'over', details })
  await publish(id, { status: 'fixed', reason: 'tests_pass' })
  await store.retire(id)
}

let told = 0
/** Journals something with that event. */
async function tell(id: string, event: RunEventContent): Promise<void> {
  told += 1
  await store.appendKeyed(id, 'output', `call:told-${told}`, { at, output: '' }, event)
}

const note = (id: string, text: string) => tell(id, { type: 'note', text })

const response = (request: number, call_id: string, async: boolean): RunEventContent => ({
  type: 'response',
  text: '',
  details: {
    kind: 'response',
    request,
    attempt: 1,
    status: 'completed',
    calls: [{ call_id, tool: 'search_codebase_memory', async }],
    text: '',
    tokens: { input: 1234, cached_input: 1000, output: 56, reasoning: 7 },
    cost_microusd: 1500,
  },
})

const request = (n: number, ...delivers: string[]): RunEventContent => ({
  type: 'request',
  text: `request ${n}`,
  details: {
    kind: 'request',
    request: n,
    attempt: 1,
    hold_microusd: 20_000,
    delivers: delivers.map((call_id) => ({ call_id, tool: 'search_codebase_memory' })),
    reminder: false,
  },
})

/** Takes the delivery that waits, and fails it for good. */
async function failDelivery(): Promise<void> {
  const work = () => Promise.reject(new UnrecoverableError('Redis refused'))
  const worker = new Worker('tool-results', work, {
    connection: server.address,
    prefix: KEY_PREFIX,
  })
  await once(worker, 'failed')
  await worker.close()
}

/** The row of the timeline that holds this text. */
function rowWith(text: string, part: string): string {
  const rows = text.match(/<li id="e-[\s\S]*?(?=<li id="e-|<\/ol>)/g) ?? []
  return rows.find((row) => row.includes(part)) ?? ''
}

describe('the list of runs', () => {
  it('has the newest first, a page at a time, and shows each run on one page only', async () => {
    const moments = Array.from({ length: 120 }, (_, i) => Date.parse(at) + (i % 40) * 1000)
    for (const [i, ms] of moments.entries()) {
      await publish(`run-${i}`, { created_at: new Date(ms).toISOString() })
    }
    const seen: string[] = []
    let path: string | undefined = '/runs'
    while (path !== undefined) {
      const { text } = await get(path)
      seen.push(...runsIn(text).map(String))
      path = /href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(seen).toHaveLength(120)
    expect(new Set(seen).size).toBe(120)
    const order = seen.map((id) => moments[Number(id.slice(4))] ?? 0)
    expect(order).toEqual([...order].sort((a, b) => b - a))
  })

  it('is filtered by status, by words and by day, together', async () => {
    await publish('run-fixed', { status: 'fixed', reason: 'tests_pass', prompt: 'the Parser' })
    await publish('run-other', { prompt: 'the parser, again' })
    await publish('run-later', { created_at: '2026-11-30T10:00:00.000Z' })
    expect(runsIn((await get('/runs?status=fixed')).text)).toEqual(['run-fixed'])
    expect(runsIn((await get('/runs?text=PARSER%20again')).text)).toEqual(['run-other'])
    expect(runsIn((await get('/runs?day=2026-11-30')).text)).toEqual(['run-later'])
    expect(runsIn((await get('/runs?status=not_fixed&text=parser')).text)).toEqual(['run-other'])
    expect((await get('/runs?status=cancelled')).text).toContain('No run fits.')
  })

  it('has queued and running ones on top, however old they are', async () => {
    await publish('run-ended')
    await begin('run-running')
    const queued = { ...runRequest, run_id: 'run-queued' }
    const jobId = startJobId('run-queued')
    await dashboard.deps.producer.add('runs', 'start', queued, { jobId })
    const { text } = await get('/runs')
    expect(new Set(runsIn(text).slice(0, 2))).toEqual(new Set(['run-queued', 'run-running']))
    expect(runsIn(text)[2]).toBe('run-ended')
    expect(runsIn((await get('/runs?status=queued')).text)).toEqual(['run-queued'])
  })

  it('tells what the memory did, what is notional, and how long it took', async () => {
    const { recall } = sampleView()
    const returned = [{ memory_id: '6f9619ff-8b86-5011-b42d-00c04fc964ff', score: 0.9 }]
    await publish('run-a', { recall: { ...recall, returned }, cost_is_notional: false })
    await publish('run-b', { recall: { ...recall, unavailable: 1 } })
    const rows = (await get('/runs')).text.split('<tr>')
    const of = (id: string) => rows.find((row) => row.includes(id)) ?? ''
    expect(of('run-a')).toContain('>match<')
    expect(of('run-a')).not.toContain('notional')
    expect(of('run-b')).toContain('>unavailable<')
    expect(of('run-b')).toContain('$0.0123 <span')
    expect(of('run-b')).toContain('>60 s<')
  })

  it('takes a query that makes no sense as none', async () => {
    await publish('run-a')
    const { status, text } = await get('/runs?status=x&day=tomorrow&after=%00&text=')
    expect(status).toBe(200)
    expect(runsIn(text)).toEqual(['run-a'])
  })
})

describe('the page of a run', () => {
  it('shows an asynchronous search as asked in one request and delivered in a later one', async () => {
    await begin('run-a')
    await tell('run-a', request(1))
    await tell('run-a', response(1, 'c1', true))
    const found = { ok: true, value: { matches: [], searched: 7 } } as const
    const event = resultEvent('search', callKey('c1'), found) ?? undefined
    await store.deliver('run-a', callKey('c1'), found, event)
    await tell('run-a', request(2))
    expect(rowWith((await get('/runs/run-a')).text, 'memory answers')).toContain(
      'asked in request 1, not delivered yet',
    )
    await tell('run-a', request(3, 'c1'))
    const { text } = await get('/runs/run-a')
    expect(rowWith(text, 'asks for')).toContain('asynchronous')
    expect(rowWith(text, 'memory answers')).toContain('asked in request 1, delivered in request 3')
    expect(rowWith(text, 'memory answers')).toContain('of 7 records')
    expect(rowWith(text, '>request 3<')).toContain('late: 2 requests on')
  })

  it('has a row of its own for a result that was lost, and says when the run was told', async () => {
    await begin('run-a')
    await tell('run-a', request(1))
    await tell('run-a', response(1, 'c1', true))
    await tell('run-a', request(2))
    const deps = { journal: store, producer: dashboard.deps.producer }
    expect(await reviveDeliveries(deps, 'run-a', [callKey('c1')])).toBe(true)
    expect(rowWith((await get('/runs/run-a')).text, '>lost<')).toContain('not delivered yet')
    await tell('run-a', request(3, 'c1'))
    const { text } = await get('/runs/run-a')
    expect(rowWith(text, '>lost<')).toContain('the job was lost')
    expect(rowWith(text, '>lost<')).toContain('asked in request 1, delivered in request 3')
    expect(rowWith(text, '>request 3<')).toContain('late: 2 requests on')
  })

  it('has a row for a result that comes after its delivery had failed for good', async () => {
    await begin('run-a')
    await tell('run-a', request(1))
    await tell('run-a', response(1, 'c1', true))
    const { producer } = dashboard.deps
    const payload = { run_id: 'run-a', call_id: callKey('c1'), work: 'search' } as const
    const jobId = deliverJobId('run-a', callKey('c1'))
    await producer.add('tool-results', 'deliver', payload, { jobId })
    await failDelivery()
    expect(await reviveDeliveries({ journal: store, producer }, 'run-a', [callKey('c1')])).toBe(
      false,
    )
    const job = await producer.queue('tool-results').getJob(jobId)
    expect(await job?.getState()).toBe('waiting')
    const found = { ok: true, value: { matches: [], searched: 7 } } as const
    const event = resultEvent('search', callKey('c1'), found) ?? undefined
    await store.deliver('run-a', callKey('c1'), found, event)
    await tell('run-a', request(4, 'c1'))
    expect(rowWith((await get('/runs/run-a')).text, 'memory answers')).toContain(
      'asked in request 1, delivered in request 4',
    )
  })

  it('says what runs of earlier versions did not record', async () => {
    await publish('run-a', {
      tests: 0,
      gate_refusals: 0,
      verification: {
        command: 'node --test',
        failing_before: ['adds'],
        passing_after: ['adds'],
        outcome: 'node passed with exit code 0',
      },
    })
    const { text } = await get('/runs/run-a')
    const fact = (name: string) => text.split('<dt>').find((each) => each.startsWith(`${name}<`))
    for (const name of ['Limits', 'Tests', 'Gate refusals']) {
      expect(fact(name), name).toContain('not recorded')
    }
    expect(text).toMatch(/<h2>Receipt<\/h2><p class="empty">Not recorded: /)
    await begin('run-b')
    expect((await get('/runs/run-b')).text).not.toMatch(/not recorded/i)
  })

  it('measures what was used against the limits of the run', async () => {
    await begin('run-a')
    const { text } = await get('/runs/run-a')
    expect(text).toMatch(/5 <span class="muted">of 40<\/span>/)
    expect(text).toMatch(/7 <span class="muted">of 120<\/span>/)
  })

  it('shows gates and other refusals apart', async () => {
    await begin('run-a')
    const refused = (tool: string, code: string): RunEventContent => ({
      type: 'call',
      text: '',
      details: {
        kind: 'call',
        call_id: `of-${code}`,
        tool,
        request: 1,
        about: 'a.ts',
        waits: false,
        refusal: { code, message: 'search first' },
      },
    })
    await tell('run-a', refused('apply_edit', 'memory_gate'))
    await tell('run-a', refused('read_file', 'path_refused'))
    const { text } = await get('/runs/run-a')
    expect(rowWith(text, 'apply_edit')).toContain('gate: memory gate')
    expect(rowWith(text, 'read_file')).toContain('>path refused<')
  })

  it('shows the patch in colour, the tests before and after, and what was left out', async () => {
    await publish('run-a', {
      patch: '--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,3 @@\n same\n--- a query\n+new\n end\n',
      verification: {
        command: 'node --test',
        failing_before: ['adds', 'divides'],
        passing_after: ['adds'],
        outcome: null,
      },
      dropped_paths: ['test/a.test.ts'],
      final_text: 'It was the query.',
    })
    const { text } = await get('/runs/run-a')
    expect(text).toContain('<span class="diff-file">--- a/a.ts')
    expect(text).toContain('<span class="diff-del">--- a query')
    expect(text).toContain('<span class="diff-add">+new')
    expect(text).toContain('<span class="diff-same"> end')
    const rows = text.split('<tr>')
    expect(rows.find((row) => row.includes('>adds<'))).toContain('>green<')
    expect(rows.find((row) => row.includes('>divides<'))).toContain('>not passing<')
    expect(text).toContain('<code>test/a.test.ts</code>')
    expect(text).toContain('It was the query.')
  })

  it('shows events of an earlier version by their text, and unreadable ones without it', async () => {
    await publish('run-a')
    const { redis } = dashboard.deps
    const old = { type: 'call', at, text: 'read_file a.ts' }
    await redis.xadd(runEventsKey('run-a'), '*', 'event', JSON.stringify(old))
    await redis.xadd(runEventsKey('run-a'), '*', 'event', JSON.stringify({ type: 'new', x: 1 }))
    const { text } = await get('/runs/run-a')
    expect(rowWith(text, 'read_file a.ts')).toContain('10:00:00')
    expect(text).toContain('unreadable event')
  })

  it('says that there is no such run, whatever the id is', async () => {
    for (const id of ['run-nobody', encodeURIComponent(SCRIPT), '..%2Fcosts', '%00']) {
      const { status, text } = await get(`/runs/${id}`)
      expect(status).toBe(404)
      expect(text).not.toContain(SCRIPT)
    }
    expect((await get('/runs/run-nobody/events')).status).toBe(404)
  })

  it('shows what models and tests printed as text, cut where it is long', async () => {
    await begin('run-a')
    const long = hostile + 'x'.repeat(1_000_000)
    const match = {
      memory_id: '6f9619ff-8b86-5011-b42d-00c04fc964ff',
      score: 1,
      relevance: 'same',
      probability: 1,
      proved: false,
      fix_description: hostile,
      error_type: hostile,
      file_paths: [hostile],
      outcome: hostile,
      timestamp: at,
      session_id: hostile,
    }
    const key = callKey(hostile)
    const results = [
      resultEvent('search', key, { ok: true, value: { matches: [match], searched: 1 } }),
      resultEvent('search', key, { ok: false, error: long }),
      resultEvent('tests', key, { ok: false, error: hostile }),
    ]
    for (const event of results) if (event) await tell('run-a', event)
    await tell('run-a', response(1, hostile, true))
    await tell('run-a', request(2, hostile))
    await note('run-a', long)
    await publish('run-a', {
      prompt: long,
      workspace: hostile,
      model: hostile,
      message: hostile,
      final_text: long,
      patch: `--- ${hostile}\n+++ ${hostile}\n@@ -1 +1 @@\n-${hostile}\n+${long}\n`,
      dropped_paths: [hostile],
      verification: {
        command: hostile,
        failing_before: [hostile],
        passing_after: [],
        outcome: hostile,
      },
    })
    for (const path of ['/runs/run-a', '/runs']) {
      const { status, text } = await get(path)
      expect(status).toBe(200)
      // Booleans: nobody wants to read the page in a report.
      expect(text.includes('&lt;script&gt;')).toBe(true)
      const alive = [SCRIPT, '<img', '\u001b', '[31m', '\u202e'].filter((each) =>
        text.includes(each),
      )
      expect(alive, path).toEqual([])
      expect(text.length).toBeLessThan(500_000)
    }
  })
})

describe('the events of a run', () => {
  const open = (path: string, headers: Record<string, string> = {}) =>
    openEventStream(dashboard.url + path, { cookie, ...headers })
  /** How many connections Redis has: the dashboard's own, and one a stream. */
  const connections = async () =>
    String(await dashboard.deps.redis.client('LIST'))
      .trim()
      .split('\n').length
  const until = async (condition: () => Promise<boolean>) => {
    const limit = Date.now() + 10_000
    while (!(await condition())) {
      if (Date.now() > limit) throw new Error('it never came to that')
    }
  }

  it('come as rows while it goes on, with a new head, and end with it', async () => {
    await begin('run-a')
    const stream = await open('/runs/run-a/events')
    expect((await stream.next('row'))?.data).toContain('begun')
    await note('run-a', 'something new')
    expect((await stream.next('row'))?.data).toContain('something new')
    await end('run-a')
    const rest = await stream.rest()
    expect(rest.find(({ event }) => event === 'row')?.data).toContain('event-ended')
    const head = rest.find(({ data }) => data.includes('id="run-head"'))
    expect(head?.data).toContain('>fixed<')
    expect(rest.at(-1)?.event).toBe('end')
  })

  it('are resumed after the last one that was seen, without a loss or a repetition', async () => {
    await begin('run-a')
    for (const text of ['one', 'two', 'three']) await note('run-a', text)
    const stream = await open('/runs/run-a/events')
    const rows = [await stream.next('row'), await stream.next('row'), await stream.next('row')]
    stream.close()
    await note('run-a', 'four')
    await end('run-a')
    const seen = rows.at(-1)?.id ?? ''
    const again = await open('/runs/run-a/events?after=0', { 'last-event-id': seen })
    const rest = (await again.rest()).filter(({ event }) => event === 'row')
    const texts = rest.map(({ data }) => /one|two|three|four|over/.exec(data)?.[0])
    expect(texts).toEqual(['three', 'four', 'over'])
  })

  it('replace the rows that a later event says more about', async () => {
    await begin('run-a')
    await tell('run-a', response(1, 'c1', true))
    const found = { ok: true, value: { matches: [], searched: 0 } } as const
    const result = resultEvent('search', callKey('c1'), found) ?? undefined
    await store.deliver('run-a', callKey('c1'), found, result)
    const stream = await open('/runs/run-a/events')
    const first = [await stream.next('row'), await stream.next('row'), await stream.next('row')]
    await tell('run-a', request(3, 'c1'))
    const again = await stream.next('row')
    stream.close()
    const idOf = (row: { data: string } | null | undefined) =>
      /<li id="([^"]+)"/.exec(row?.data ?? '')?.[1]
    expect(idOf(again)).toBe(idOf(first[2]))
    expect(again?.data).toContain('delivered in request 3')
    expect(again?.id).toBeNull()
  })

  it('are there for a run that waits, from its begin on', async () => {
    const queued = { ...runRequest, run_id: 'run-queued' }
    const jobId = startJobId('run-queued')
    await dashboard.deps.producer.add('runs', 'start', queued, { jobId })
    const stream = await open('/runs/run-queued/events')
    expect((await stream.next('piece'))?.data).toContain('waits for an agent-runner')
    await begin('run-queued')
    expect((await stream.next('row'))?.data).toContain('begun')
    stream.close()
  })

  it('have a sign of life every 15 s when nothing happens', async () => {
    await begin('run-a')
    const stream = await open('/runs/run-a/events')
    await stream.next('piece')
    await stream.next('piece')
    clock += 15_000
    expect((await stream.next('comment', 'row'))?.data).toBe(': still here')
    stream.close()
  })

  it('free their connection to Redis when the reader goes away, and when the run ends', async () => {
    await begin('run-a')
    const before = await connections()
    const streams = await Promise.all([1, 2, 3].map(() => open('/runs/run-a/events')))
    await until(async () => (await connections()) === before + 3)
    for (const stream of streams.slice(0, 2)) stream.close()
    await until(async () => (await connections()) === before + 1)
    await end('run-a')
    await streams[2]?.rest()
    await until(async () => (await connections()) === before)
  })

  it('are refused to more readers than there is room for, and open again when some have left', async () => {
    await begin('run-a')
    const streams = await Promise.all(Array.from({ length: 40 }, () => open('/runs/run-a/events')))
    const refused = await get('/runs/run-a/events')
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('too many live pages')
    for (const stream of streams) stream.close()
    await until(async () => {
      const abort = new AbortController()
      const response = await fetch(`${dashboard.url}/runs/run-a/events`, {
        headers: { cookie },
        signal: abort.signal,
      })
      abort.abort()
      return response.ok
    })
  })

  it('are not told to whoever is not logged in', async () => {
    await begin('run-a')
    const response = await fetch(`${dashboard.url}/runs/run-a/events`, { redirect: 'manual' })
    expect(response.ok).toBe(false)
  })
})
