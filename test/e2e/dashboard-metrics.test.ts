import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { allCalls } from '../../services/agent-runner/journal/conversation.ts'
import { createJournalStore } from '../../services/agent-runner/journal/journal-store.ts'
import { readTranscript, type TranscriptLine } from '../../services/cli/read-transcript.ts'
import { readConfig } from '../../shared/config.ts'
import { evidenceLineSchema, readProjectAmounts } from '../../shared/contracts/ledger.ts'
import { type RunView, readRunView } from '../../shared/contracts/run-view.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import {
  type KeptDemo,
  type OpenDashboard,
  openDashboard,
  runKeptDemo,
} from '../support/kept-demo.ts'
import { sampleOf, sumOf } from '../support/metrics.ts'

const runIds = ['demo-1-alpha', 'demo-2-gamma', 'demo-3-beta']
const offline = { mode: 'offline' }

let folder: string
let demo: KeptDemo
let dashboard: OpenDashboard
let redis: Redis
const runs: RunView[] = []
const transcripts: TranscriptLine[][] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-e2e-'))
  demo = await runKeptDemo(folder)
  dashboard = await openDashboard(folder, demo)
  redis = connectOrFail(readConfig({ ASTRA_HOME: demo.home }).redis)
  for (const id of runIds) {
    const view = await readRunView(redis, id)
    if (!view) throw new Error(`the demo left no run ${id}`)
    runs.push(view)
    transcripts.push(await readTranscript(demo.home, id))
  }
}, 300_000)
afterAll(async () => {
  redis?.disconnect()
  await dashboard?.close()
  await rm(folder, { recursive: true, force: true })
})

async function scrape(): Promise<string> {
  const headers = { Authorization: `Bearer ${dashboard.token}` }
  const response = await fetch(`${dashboard.url}/metrics`, { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('Content-Type')).toContain('text/plain; version=0.0.4')
  return response.text()
}

const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0)

describe('the metrics of a real `npm run demo`, scraped from the dashboard that it names', () => {
  it('say what the journals say: requests, tests, searches, tokens and ended runs', async () => {
    expect(runs.map(({ status }) => status)).toEqual(['fixed', 'fixed', 'fixed'])
    const store = createJournalStore(redis)
    const journals = await Promise.all(runs.map(({ run_id }) => store.load(run_id)))
    const sum = (count: (journal: (typeof journals)[number]) => number) =>
      total(journals.map(count))
    const workOf = (name: string) =>
      sum((journal) => {
        const calls = allCalls(journal).filter((call) => call.name === name)
        return calls.filter((call) => journal.jobs.has(`call:${call.call_id}`)).length
      })
    const own = sum(
      ({ jobs }) => [...jobs.keys()].filter((key) => /^system:(baseline|verify-)/.test(key)).length,
    )
    const text = await scrape()
    expect(sumOf(text, 'astra_runs_total', { ...offline, status: 'fixed' })).toBe(3)
    expect(sumOf(text, 'astra_model_requests_total', offline)).toBe(sum(({ sent }) => sent.size))
    expect(sumOf(text, 'astra_test_runs_total', offline)).toBe(own + workOf('run_tests'))
    const searches = workOf('search_codebase_memory')
    expect(searches).toBeGreaterThanOrEqual(3)
    expect(sumOf(text, 'astra_memory_searches_total', offline)).toBe(searches)
    // The first memory is empty, the second session has its cause, the third another one.
    const answers = (answer: string) =>
      sumOf(text, 'astra_memory_searches_total', { ...offline, answer })
    expect(answers('matches')).toBeGreaterThanOrEqual(1)
    expect(answers('none')).toBeGreaterThanOrEqual(1)
    const tokens = sum(({ responses }) =>
      total([...responses.values()].map(({ usage }) => usage.input_tokens + usage.output_tokens)),
    )
    expect(sumOf(text, 'astra_tokens_total', offline)).toBe(tokens)
    expect(sampleOf(text, 'astra_memory_records{state="live"}')).toBe(
      new Set(runs.map(({ stored_memory_id }) => stored_memory_id)).size,
    )
  })

  it('say what the transcripts say: requests, outputs of searches and tests, tokens', async () => {
    const lines = transcripts.flat()
    const text = await scrape()
    const requests = lines.filter(({ type }) => type === 'request').length
    expect(requests).toBeGreaterThanOrEqual(9)
    expect(sumOf(text, 'astra_model_requests_total', offline)).toBe(requests)
    const outputsOf = (tool: string) =>
      lines.flatMap((line) => (line.type === 'output' && line.tool === tool ? [line.output] : []))
    const answers = (answer: string) =>
      sumOf(text, 'astra_memory_searches_total', { ...offline, answer })
    const searches = outputsOf('search_codebase_memory')
    const found = searches.filter((output) => output.includes('Match 1 ')).length
    expect([answers('matches'), answers('none')]).toEqual([found, searches.length - found])
    // Beside what the model asked for: a baseline of each run, and verifications of its last tree.
    const tests = sumOf(text, 'astra_test_runs_total', offline)
    expect(tests).toBeGreaterThanOrEqual(outputsOf('run_tests').length + runs.length)
    const usage = lines.flatMap((line) =>
      line.type === 'response' ? [usageSchema.parse(line)] : [],
    )
    const read = total(usage.map(({ usage: { input_tokens } }) => input_tokens))
    const cached = total(usage.map(({ usage: { cached_tokens } }) => cached_tokens))
    const kind = (name: string) => sumOf(text, 'astra_tokens_total', { ...offline, kind: name })
    expect([kind('cached_input'), kind('fresh_input')]).toEqual([cached, read - cached])
  })

  it('say what the ledger and its evidence say: the same dollars, to the micro-dollar', async () => {
    const { settled, held, sent } = await readProjectAmounts(redis, 'notional')
    const text = await scrape()
    const micro = (value: number | undefined) => Math.round((value ?? 0) * 1e6)
    const booked = (state: string) =>
      micro(
        sampleOf(text, `astra_ledger_dollars{scope="notional",period="project",state="${state}"}`),
      )
    expect(settled).toBeGreaterThan(0)
    expect([booked('settled'), booked('held'), booked('sent')]).toEqual([settled, held, sent])
    expect(micro(sumOf(text, 'astra_run_cost_dollars_total', offline))).toBe(settled)
    const spent = 'astra_run_budget_spent_ratio'
    expect(sampleOf(text, `${spent}_count{mode="offline"}`)).toBe(runs.length)
    const parts = total(runs.map(({ cost_usd, budget_usd }) => cost_usd / (budget_usd ?? 0)))
    expect(sampleOf(text, `${spent}_sum{mode="offline"}`)).toBeCloseTo(parts, 5)
    const lines = await evidence()
    expect(total(lines.map((line) => line.cost_microusd))).toBe(settled)
    expect(sumOf(text, 'astra_ledger_dollars', { scope: 'live' })).toBe(0)
  })

  it('say the same by what the workers counted: one test job a test run, one search a search', async () => {
    const done = async (queue: string, job: string) =>
      sumOf(await scrape(), 'astra_job_duration_seconds_count', {
        queue,
        job,
        outcome: 'completed',
      })
    const first = await scrape()
    await expect
      .poll(async () =>
        total(await Promise.all(['baseline', 'run', 'verify'].map((job) => done('tests', job)))),
      )
      .toBe(sumOf(first, 'astra_test_runs_total'))
    await expect
      .poll(() => done('memory', 'search'))
      .toBe(sumOf(first, 'astra_memory_searches_total'))
    await expect
      .poll(() => done('embeddings', 'embed'))
      .toBe(sumOf(await scrape(), 'astra_embedding_batch_texts_count'))
    const text = await scrape()
    expect(sampleOf(text, 'astra_embedding_tokens_total')).toBeGreaterThan(10)
    for (const [counter, outcome] of [
      ['astra_job_retries_total', 'retried'],
      ['astra_job_postponements_total', 'postponed'],
    ] as const) {
      const tries = sumOf(text, 'astra_job_duration_seconds_count', { outcome })
      expect(sumOf(text, counter)).toBe(tries)
    }
    expect(sumOf(text, 'astra_model_request_duration_seconds_count', offline)).toBe(
      sumOf(text, 'astra_model_requests_total', offline),
    )
  })

  it('show a worker for every queue, and /healthz says that all is there', async () => {
    const text = await scrape()
    const workers = text.split('\n').filter((line) => line.startsWith('astra_queue_workers{'))
    expect(workers).toHaveLength(5)
    for (const line of workers) expect(line).toMatch(/ 1$/)
    expect(text).toContain('astra_scrape_failed{source="runs"} 0')
    const response = await fetch(`${dashboard.url}/healthz`)
    expect(await response.json()).toMatchObject({ ok: true, services: { 'test-runner': 1 } })
    expect(response.status).toBe(200)
  })
})

const usageSchema = z.looseObject({
  usage: z.looseObject({ input_tokens: z.number(), cached_tokens: z.number() }),
})

async function evidence() {
  const ledger = join(demo.home, 'ledger')
  const files = (await readdir(ledger)).filter((name) => name.endsWith('.jsonl'))
  const texts = await Promise.all(files.map((name) => readFile(join(ledger, name), 'utf8')))
  const lines = texts
    .flatMap((text) => text.split('\n').filter((line) => line !== ''))
    .map((line) => evidenceLineSchema.parse(JSON.parse(line)))
  return [...new Map(lines.map((line) => [`${line.scope} ${line.seq}`, line])).values()].filter(
    ({ state }) => state === 'settled',
  )
}
