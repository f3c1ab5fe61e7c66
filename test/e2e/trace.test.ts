import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import {
  type OtlpReceiver,
  type ReceivedSpan,
  startOtlpReceiver,
} from '../support/otlp-receiver.ts'

let receiver: OtlpReceiver
let astra: Astra
let folder: string
let run: RunView

beforeAll(async () => {
  receiver = await startOtlpReceiver()
  folder = await mkdtemp(join(tmpdir(), 'astra-e2e-'))
  astra = await createAstra({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint })
  run = await fixAlpha('alpha')
})
afterAll(async () => {
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
  await receiver.close()
})

/** One offline run, with services that start for it and have ended when it is told. */
async function fixAlpha(name: string): Promise<RunView> {
  const lease = await astra.hold()
  const workspace = join(folder, name)
  const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')
  await cp(template, workspace, { recursive: true })
  const { stdout, stderr } = await astra.cli(['fix', workspace, '--offline', '--json'])
  if (!stdout.trim()) throw new Error(stderr)
  // What is not exported yet is exported at the end of each process.
  await lease.release()
  return JSON.parse(stdout)
}

const named = (name: string) => receiver.spans.filter((span) => span.name === name)
const byId = () => new Map(receiver.spans.map((span) => [span.spanId, span]))

describe('one offline run with a collector configured', () => {
  it('is one trace with one root, exported by all processes that worked for it', () => {
    expect(run.status).toBe('fixed')
    expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(1)
    const roots = receiver.spans.filter(({ parentSpanId }) => !parentSpanId)
    expect(roots.map(({ name, service }) => [name, service])).toEqual([['run', 'agent-runner']])
    expect(roots[0]?.attributes).toMatchObject({
      'astra.run_id': run.run_id,
      'astra.status': 'fixed',
      'astra.reason': 'tests_pass',
    })
    expect(new Set(receiver.spans.map(({ service }) => service))).toEqual(
      new Set(['agent-runner', 'test-runner', 'memory-store', 'embedder']),
    )
  })

  it('leads from every span to that root', () => {
    const spans = byId()
    expect(spans.size).toBe(receiver.spans.length)
    const top = (span: ReceivedSpan): string =>
      span.parentSpanId ? top(spans.get(span.parentSpanId) ?? lost(span)) : span.name
    for (const span of receiver.spans) expect(top(span)).toBe('run')
  })

  it('has a span for each model request, search, store, test job and embedded text', () => {
    expect(named('model request')).toHaveLength(run.requests)
    expect(named('memory search')).toHaveLength(run.recall.searches)
    expect(named('memory store')).toHaveLength(1)
    const tests = ['tests baseline', 'tests run', 'tests verify'].flatMap(named)
    expect(tests).toHaveLength(run.tests)
    expect(named('test command').length).toBeGreaterThanOrEqual(run.tests)
    expect(named('embedding').length).toBeGreaterThan(0)
    // A search is embedded in another process, on its behalf.
    const spans = byId()
    for (const { parentSpanId } of named('embedding')) {
      expect(spans.get(parentSpanId ?? '')?.name).toBe('embeddings embed')
    }
  })

  it('holds nothing of the prompt, the code, the tests or the fix', async () => {
    const sent = receiver.bodies.join('\n')
    expect(sent).toContain(run.run_id)
    expect(sent).not.toContain(run.prompt.slice(0, 30))
    expect(sent).not.toContain(folder)
    const failing = run.verification?.failing_before ?? []
    expect(failing.length).toBeGreaterThan(0)
    for (const test of failing) expect(sent).not.toContain(test)
    const added = (run.patch ?? '').split('\n').filter((line) => /^\+[^+]/.test(line))
    expect(added.length).toBeGreaterThan(0)
    for (const line of added) expect(sent).not.toContain(line.slice(1).trim())
    const keys = new Set(receiver.spans.flatMap(({ attributes }) => Object.keys(attributes)))
    expect(
      [...keys].filter((key) => !/^(astra|bullmq\.(queue|job)|gen_ai\.request)\./.test(key)),
    ).toEqual([])
  })
})

describe('a run whose collector never answers', () => {
  it('is fixed all the same, with nothing more to do than with one that does', async () => {
    const before = receiver.spans.length
    receiver.fault = 'never answers'
    const { status, requests, tests, recall } = await fixAlpha('alpha again')
    receiver.fault = null
    expect(status).toBe('fixed')
    // It knows the fix by now, so it may need less than the first.
    expect(requests).toBeLessThanOrEqual(run.requests)
    expect(tests).toBeLessThanOrEqual(run.tests)
    expect(recall).toMatchObject({ matched: 1, unavailable: 0 })
    expect(receiver.refused).toBeGreaterThan(0)
    expect(receiver.spans).toHaveLength(before)
  })
})

/** What a process loads that takes and adds jobs, by the addresses of its modules. */
const LOADED = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
const { startTracing } = await import('./shared/tracing.ts')
await import('./shared/service.ts')
await import('./shared/queue/consumer.ts')
await import('./shared/queue/producer.ts')
await startTracing('test', process.env.ENDPOINT)
console.log(JSON.stringify(loaded))
process.exit()
`

describe('a process', () => {
  const loadedOfTracing = (ENDPOINT?: string): string[] => {
    const args = ['--input-type=module', '-e', LOADED]
    const env = { ...process.env, ...(ENDPOINT === undefined ? {} : { ENDPOINT }) }
    const { stdout } = spawnSync(process.execPath, args, {
      cwd: productRoot,
      env,
      encoding: 'utf8',
    })
    const loaded: string[] = JSON.parse(stdout)
    return loaded.filter((url) => /opentelemetry|bullmq-otel/.test(url))
  }

  it('loads nothing of OpenTelemetry without a collector, and does with one', () => {
    expect(loadedOfTracing()).toEqual([])
    expect(loadedOfTracing('http://127.0.0.1:9').length).toBeGreaterThan(5)
  })
})

function lost(span: ReceivedSpan): never {
  throw new Error(`${span.service}: ${span.name} has a parent that nobody exported`)
}
