import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModelClient } from '../../services/agent-runner/model/client.ts'
import type { ModelFault } from '../../services/agent-runner/model/faults.ts'
import { holdMicrousd } from '../../services/agent-runner/model/prices.ts'
import { productRoot } from '../../shared/config.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import {
  type Body,
  functionCall,
  message,
  type Reply,
  type ScriptedModel,
  searchCall,
  startScriptedModel,
} from '../support/scripted-model.ts'
import { parseWire } from '../support/wire-schema.ts'

const httpFault = (
  http: number,
  code: string | null,
  headers: Record<string, string> = {},
): Reply => ({
  http,
  body: { error: { message: `fault ${http}`, type: 'some_type', code } },
  headers,
})
const html = { raw: '<html>Bad gateway</html>', headers: { 'content-type': 'text/html' } }

let model: ScriptedModel
/** What the model says in the test that runs now. */
let script: (body: Body, n: number) => Reply

beforeAll(async () => {
  model = await startScriptedModel((body, n) => script(body, n))
})
afterAll(() => model.close())

/** For answers that come. */
const AMPLE = { timeoutMs: 30_000, idleMs: 30_000 }

describe('one attempt', () => {
  const body: ResponseCreateParamsNonStreaming = { model: 'gpt-6-astra', input: 'Mend it.' }

  async function attempt(reply: Reply, limits = AMPLE) {
    script = () => reply
    const client = createModelClient({ baseURL: model.url, apiKey: 'any', ...limits })
    const before = model.bodies.length
    const result = await client.respond(body, new AbortController().signal)
    expect(model.bodies.length - before, 'the client repeats nothing by itself').toBe(1)
    return result
  }

  async function faultOf(...args: Parameters<typeof attempt>): Promise<ModelFault> {
    const result = await attempt(...args)
    if (result.ok) throw new Error(`no fault, but ${JSON.stringify(result.response)}`)
    return result.fault
  }

  it.each([
    ['429', httpFault(429, 'rate_limit_exceeded'), 'rate_limit_exceeded'],
    ['408', httpFault(408, null), 'http_408'],
    ['409', httpFault(409, null), 'http_409'],
  ])('%s may be repeated and cost nothing', async (_status, reply, code) => {
    expect(await faultOf(reply)).toMatchObject({ final: false, charged: false, code })
  })

  it.each([
    ['500', httpFault(500, 'server_error'), 'server_error'],
    ['503', httpFault(503, null), 'http_503'],
    ['a connection reset before the answer', { drop: true } as const, 'connection'],
    ['one in the middle of the answer', { cut: '{"id":"resp_1",' }, 'connection'],
    ['malformed JSON', { raw: '{"id":"resp_1",' }, 'malformed'],
    ['JSON that is no object', { raw: 'null' }, 'malformed'],
    ['a page of HTML with status 200', html, 'malformed'],
  ])('%s may be repeated and may have been billed', async (_name, reply, code) => {
    expect(await faultOf(reply)).toMatchObject({ final: false, charged: true, code })
  })

  it.each([
    ['400', httpFault(400, 'invalid_value'), 'invalid_value'],
    ['401', httpFault(401, 'invalid_api_key'), 'invalid_api_key'],
    ['403', httpFault(403, 'misalignment_policy_violation'), 'misalignment_policy_violation'],
    ['404', httpFault(404, 'model_not_found'), 'model_not_found'],
    ['429 for want of money', httpFault(429, 'insufficient_quota'), 'insufficient_quota'],
  ])('%s is final and cost nothing', async (_status, reply, code) => {
    expect(await faultOf(reply)).toMatchObject({ final: true, charged: false, code })
  })

  it('a code that is a number is kept as text, and a missing message is none', async () => {
    const numeric = { http: 400, body: { error: { message: 'no such call', code: 400 } } }
    expect(await faultOf(numeric)).toMatchObject({ code: '400', message: '400 no such call' })
    const fault = await faultOf({ http: 502, body: 'gone' })
    expect(fault).toMatchObject({ final: false, charged: true, code: 'http_502' })
    expect(fault.message).toContain('502')
  })

  it('a server that is not there worked on nothing', async () => {
    const gone = await startScriptedModel(() => ({ drop: true }))
    await gone.close()
    const client = createModelClient({ baseURL: gone.url, apiKey: 'any', ...AMPLE })
    const result = await client.respond(body, new AbortController().signal)
    expect(result).toMatchObject({ ok: false, fault: { code: 'connection', charged: false } })
  })

  it('an answer that does not come, or stops coming, ends by the limit and may have been billed', async () => {
    const short = 1_500
    const long = 30_000
    const none = await faultOf({ hang: null }, { timeoutMs: short, idleMs: long })
    expect(none).toMatchObject({ final: false, charged: true, code: 'timeout' })
    const stalled = await faultOf({ hang: '{"id":' }, { timeoutMs: long, idleMs: short })
    expect(stalled).toMatchObject({ final: false, charged: true, code: 'timeout' })
    const slow = await faultOf({ hang: '{"id":' }, { timeoutMs: short, idleMs: long })
    expect(slow).toMatchObject({ final: false, charged: true, code: 'timeout' })
  })

  it('is told when to come back in seconds, milliseconds or by a date', async () => {
    const retryAfter = async (headers: Record<string, string>) =>
      (await faultOf(httpFault(429, null, headers))).retry_after_ms
    expect(await retryAfter({ 'retry-after': '7' })).toBe(7_000)
    expect(await retryAfter({ 'retry-after': '1.5' })).toBe(1_500)
    expect(await retryAfter({ 'retry-after-ms': '250', 'retry-after': '7' })).toBe(250)
    const date = new Date(Date.now() + 60_000).toUTCString()
    const until = (await retryAfter({ 'retry-after': date })) ?? 0
    expect(until).toBeGreaterThan(30_000)
    expect(until).toBeLessThanOrEqual(60_000)
    expect(await retryAfter({ 'retry-after': new Date(0).toUTCString() })).toBe(0)
    expect(await retryAfter({ 'retry-after': 'soon' })).toBeNull()
    expect(await retryAfter({})).toBeNull()
  })

  it('that this process gives up is no fault of the model', async () => {
    const stopping = new AbortController()
    script = () => {
      stopping.abort(new Error('stopping'))
      return { hang: null }
    }
    const client = createModelClient({ baseURL: model.url, apiKey: 'any', ...AMPLE })
    await expect(client.respond(body, stopping.signal)).rejects.toThrow('stopping')
  })
})

describe('a run', () => {
  const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')
  const prices = { input: 5, cached: 0.5, cacheWrite: 6.25, output: 25 }

  let astra: Astra
  let lease: Lease
  let folder: string
  const seen: Body[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'astra-faults-'))
    astra = await createAstra({
      OPENAI_API_KEY: 'sk-fake',
      OPENAI_BASE_URL: model.url,
      ASTRA_SERVICE_TIER: 'flex',
      ASTRA_PRICES: Object.values(prices).join(','),
      ASTRA_MAX_OUTPUT_TOKENS: '1000',
    })
    lease = await astra.hold()
  })
  afterAll(async () => {
    await lease.release()
    await astra.remove()
    await rm(folder, { recursive: true, force: true })
  })

  /** A run whose first requests get `faults` for an answer, one each, and whose later ones succeed. */
  async function run(faults: readonly Reply[], then: readonly Reply[] = whole) {
    const bodies: Body[] = []
    script = (body) => {
      bodies.push(body)
      seen.push(body)
      const n = bodies.length - 1
      return faults[n] ?? then[n - faults.length] ?? { output: [message('Nothing more.')] }
    }
    const workspace = await mkdtemp(join(folder, 'workspace-'))
    await cp(template, workspace, { recursive: true })
    const result = await astra.cli(['fix', workspace, '--approve-live-cost', '--json'])
    if (!result.stdout.trim()) throw new Error(result.stderr)
    const view: RunView = JSON.parse(result.stdout)
    return { view, bodies, held: bodies.map(holdOf) }
  }

  const whole: readonly Reply[] = [
    { output: [searchCall(), functionCall('wait_for_tasks', { task_handles: ['memory'] })] },
  ]
  /** Of 1,000 tokens of input and 100 of output, which is what the scripted model counts. */
  const answered = (1_000 * prices.input + 100 * prices.output) / 1e6
  const holdOf = (body: Body) =>
    holdMicrousd(Buffer.byteLength(JSON.stringify(body)), 1_000, prices) / 1e6

  it.each([
    ['429', httpFault(429, 'rate_limit_exceeded', { 'retry-after-ms': '10' }), false],
    ['500', httpFault(500, null), true],
    ['503', httpFault(503, null), true],
    ['a reset connection', { drop: true } as const, true],
    ['an answer that was cut off', { cut: '{"id":"resp_1",' }, true],
    ['malformed JSON', { raw: '{"id":' }, true],
    ['a page of HTML', html, true],
  ])(
    'goes on after %s and pays for it if it may have been billed',
    async (_name, fault, billed) => {
      const { view, bodies, held } = await run([fault])
      expect(view).toMatchObject({ status: 'not_fixed', reason: 'no_edit', requests: 3 })
      expect(bodies[1]).toEqual(bodies[0])
      expect(view.cost_usd).toBeCloseTo(2 * answered + (billed ? (held[0] ?? 0) : 0), 6)
    },
  )

  it('ends after four attempts of one request, and has paid for each that may have been billed', async () => {
    const { view, bodies, held } = await run(Array(9).fill(httpFault(503, null)))
    expect(view).toMatchObject({ status: 'failed', reason: 'model_error', requests: 4 })
    expect(view.message).toContain('4 attempts')
    expect(bodies).toHaveLength(4)
    expect(view.cost_usd).toBeCloseTo(4 * (held[0] ?? 0), 6)
  })

  it.each([
    ['400', httpFault(400, 'invalid_value'), 'model_error'],
    ['401', httpFault(401, 'invalid_api_key'), 'model_error'],
    [
      '403 for a breach of policy',
      httpFault(403, 'misalignment_policy_violation'),
      'model_refused',
    ],
    ['404', httpFault(404, 'model_not_found'), 'model_error'],
    ['429 for want of money', httpFault(429, 'insufficient_quota'), 'model_error'],
  ])('ends at once, unpaid, at %s', async (_name, fault, reason) => {
    const { view, bodies } = await run([fault])
    expect(view).toMatchObject({ status: 'failed', reason, requests: 1, cost_usd: 0 })
    expect(view.message).toContain('fault 4')
    expect(bodies).toHaveLength(1)
  })

  it('pays the whole hold for an answer that does not say what was used', async () => {
    const bare = { id: 'resp_x', object: 'response', output: [message('It is the parser.')] }
    const { view, held } = await run([{ raw: JSON.stringify(bare) }], [])
    expect(view).toMatchObject({ status: 'failed', reason: 'memory_gate', requests: 2 })
    expect(view.cost_usd).toBeCloseTo((held[0] ?? 0) + answered, 6)
  })

  it('asks for its tier and writes down which one served it', async () => {
    const { view, bodies } = await run([], [{ ...whole[0], service_tier: 'flex' } as Reply])
    expect(bodies.map((body) => body.service_tier)).toEqual(['flex', 'flex'])
    const transcript = await readFile(
      join(astra.home, 'runs', view.run_id, 'transcript.jsonl'),
      'utf8',
    )
    const lines: { type: string; service_tier?: string }[] = transcript
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const tiers = lines.filter((line) => line.type === 'response').map((line) => line.service_tier)
    expect(tiers).toEqual(['flex', 'default'])
  })

  it('sent nothing, in all of these, that the service would not have taken', () => {
    expect(seen.length).toBeGreaterThan(30)
    for (const body of seen) parseWire(body)
  })
})
