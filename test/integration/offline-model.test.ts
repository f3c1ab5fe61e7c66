import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import OpenAI from 'openai'
import type {
  FunctionTool,
  Response,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const main = resolve(import.meta.dirname, '../../services/offline-model/main.ts')

const tool = (name: string, async = false): FunctionTool => ({
  type: 'function',
  name,
  description: name,
  strict: true,
  parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
  ...(async ? { async } : {}),
})
const tools = [
  tool('search_codebase_memory', true),
  tool('wait_for_tasks'),
  tool('list_project_files'),
  tool('read_file'),
  tool('apply_edit'),
  tool('run_tests'),
  tool('store_fix_memory'),
]
const question =
  'Mend it.\nThe tests were run before you were asked: node --test\nFailing tests:\n- trims\nOutput:\nAssertionError'

let home: string
let service: { child: ChildProcess; url: string }

async function startService() {
  const child = fork(main, {
    env: { ...process.env, ASTRA_HOME: home, ASTRA_LOG_LEVEL: 'fatal', OFFLINE_MODEL_PORT: '0' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [ready] = (await once(child, 'message')) as [{ offline_model_url: string }]
  return { child, url: ready.offline_model_url }
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-offline-'))
  service = await startService()
})

afterAll(async () => {
  await kill(service.child)
  await rm(home, { recursive: true, force: true })
})

const client = () => new OpenAI({ apiKey: 'any', baseURL: service.url, maxRetries: 0 })
const begin = (more: Record<string, unknown> = {}) =>
  client().responses.create({ model: 'gpt-6-astra', input: question, tools, ...more })

function goOn(previous: Response, input: ResponseInputItem[]) {
  return client().responses.create({
    model: 'gpt-6-astra',
    previous_response_id: previous.id,
    input,
    tools,
  })
}

function callsOf(response: Response) {
  return response.output.filter((item) => item.type === 'function_call')
}

function answer(response: Response, name: string, output: string): ResponseInputItem {
  const call = callsOf(response).find((each) => each.name === name)
  return { type: 'function_call_output', call_id: call?.call_id ?? '', output }
}

const listed = JSON.stringify({ files: ['src/a.ts'], truncated: false })

async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/responses`, {
    method: 'POST',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return {
    status: response.status,
    body: (await response.json()) as { error: { message: string } },
  }
}

describe('the stand-in and the official client', () => {
  it('answers with parallel calls, of which the search is async, and says what it is', async () => {
    const response = await begin({ metadata: { run: 'r-1' } })
    expect(response.status).toBe('completed')
    expect(callsOf(response).map((call) => [call.name, call.async])).toEqual([
      ['search_codebase_memory', true],
      ['list_project_files', undefined],
    ])
    expect(response.model).toBe('offline-stand-in')
    expect(response.metadata).toEqual({ run: 'r-1', stand_in: 'local stand-in, not Astra' })
    expect(response.service_tier).toBe('default')
  })

  it('makes an ordinary call when the definition does not say async', async () => {
    const response = await begin({ tools: [tool('search_codebase_memory'), ...tools.slice(2)] })
    expect(callsOf(response).map((call) => call.async)).toEqual([undefined, undefined])
  })

  it('gives the same answer, apart from ids and times, to the same conversation', async () => {
    const plain = (response: Response) =>
      callsOf(response).map((call) => [call.name, call.arguments])
    expect(plain(await begin())).toEqual(plain(await begin()))
  })

  it('gives a response again by its id', async () => {
    const response = await begin()
    const again = await client().responses.retrieve(response.id)
    expect(again).toMatchObject({ id: response.id, output: response.output, usage: response.usage })
  })

  it('goes on without an async output, takes it later once, and refuses it the second time', async () => {
    const first = await begin()
    const second = await goOn(first, [answer(first, 'list_project_files', listed)])
    expect(callsOf(second).map((call) => call.name)).toEqual(['wait_for_tasks'])
    const waited = answer(second, 'wait_for_tasks', '{"tasks":[]}')
    const found = answer(first, 'search_codebase_memory', 'No relevant confirmed fixes found.')
    const third = await goOn(second, [found, waited])
    expect(callsOf(third).map((call) => call.name)).toEqual(['read_file'])
    const content = "export const list = (text: string) => text.split(',')\n"
    const read = answer(third, 'read_file', JSON.stringify({ path: 'src/a.ts', content }))
    const fourth = await goOn(third, [read])
    expect(callsOf(fourth).map((call) => call.name)).toContain('run_tests')
    await expect(goOn(third, [found, read])).rejects.toThrow('Duplicate function call output')
  })

  it('refuses a continuation that leaves an ordinary call without output', async () => {
    const first = await begin()
    const found = answer(first, 'search_codebase_memory', 'No relevant confirmed fixes found.')
    await expect(goOn(first, [found])).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/No tool output found for function call call_/),
    })
  })

  it('refuses an output for a call that was never made', async () => {
    const first = await begin()
    const stray: ResponseInputItem = { type: 'function_call_output', call_id: 'x', output: '' }
    await expect(
      goOn(first, [answer(first, 'list_project_files', listed), stray]),
    ).rejects.toMatchObject({ status: 400 })
  })

  it('answers a whole conversation in one request as it answers the chain', async () => {
    const first = await begin()
    const output = answer(first, 'list_project_files', listed)
    const chained = await goOn(first, [output])
    const whole = await client().responses.create({
      model: 'gpt-6-astra',
      input: [{ role: 'user', content: question }, ...first.output, output] as ResponseInputItem[],
      tools,
      store: false,
    })
    const plain = (response: Response) =>
      callsOf(response).map((call) => [call.name, call.arguments])
    expect(plain(whole)).toEqual(plain(chained))
    expect(whole.usage).toEqual(chained.usage)
    await expect(client().responses.retrieve(whole.id)).rejects.toMatchObject({ status: 404 })
  })

  it('counts the whole conversation as input and what was sent before as cached', async () => {
    const first = await begin()
    const second = await goOn(first, [answer(first, 'list_project_files', listed)])
    expect(first.usage?.input_tokens_details.cached_tokens).toBe(0)
    expect(second.usage?.input_tokens_details).toEqual({
      cached_tokens: first.usage?.total_tokens,
      cache_write_tokens: 0,
    })
    expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.total_tokens ?? 0)
    expect(second.usage?.output_tokens_details.reasoning_tokens).toBe(0)
  })

  it('ends as incomplete, without a completed call, where the output limit is reached', async () => {
    const response = await begin({ max_output_tokens: 16 })
    expect(response.status).toBe('incomplete')
    expect(response.incomplete_details).toEqual({ reason: 'max_output_tokens' })
    expect(callsOf(response).map((call) => call.status)).toEqual(['incomplete'])
    expect((await begin({ max_output_tokens: 8000 })).status).toBe('completed')
  })

  it('makes one call at a time when parallel calls are off', async () => {
    const response = await begin({ parallel_tool_calls: false })
    expect(callsOf(response)).toHaveLength(1)
  })

  it('says in words that it is a stand-in when it is given no tools', async () => {
    const response = await begin({ tools: [] })
    expect(response.output_text).toContain('not Astra')
  })

  it('knows its chains after it was killed in the middle of one', async () => {
    const first = await begin()
    await kill(service.child)
    service = await startService()
    const second = await goOn(first, [answer(first, 'list_project_files', listed)])
    expect(callsOf(second).map((call) => call.name)).toEqual(['wait_for_tasks'])
  })

  it('gives a background response that was queued before it was killed', async () => {
    const queued = await begin({ background: true })
    await kill(service.child)
    service = await startService()
    let response = await client().responses.retrieve(queued.id)
    while (response.status === 'in_progress') {
      response = await client().responses.retrieve(queued.id)
    }
    const second = await goOn(response, [answer(response, 'list_project_files', listed)])
    expect(callsOf(second).map((call) => call.name)).toEqual(['wait_for_tasks'])
  })

  it('leaves no half-written file behind', async () => {
    const names = await readdir(join(home, 'offline-model'))
    expect(names.filter((name) => !/^resp_[0-9a-f]{44}\.json$/.test(name))).toEqual([])
  })
})

describe('what the stand-in refuses', () => {
  it('answers 401 without a bearer key', async () => {
    const { status, body } = await post({ model: 'm', input: 'x' }, { authorization: '' })
    expect(status).toBe(401)
    expect(body.error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_api_key' })
  })

  it('answers 404 for an unknown response, asked for or gone on from', async () => {
    await expect(client().responses.retrieve('resp_unknown')).rejects.toMatchObject({ status: 404 })
    const { status, body } = await post({
      model: 'm',
      input: 'x',
      previous_response_id: `resp_${'0'.repeat(44)}`,
    })
    expect(status).toBe(404)
    expect(body.error).toMatchObject({ code: 'previous_response_not_found' })
  })

  it('never reads outside its folder, whatever the id says', async () => {
    const response = await fetch(`${service.url}/responses/..%2F..%2Fetc%2Fpasswd`, {
      headers: { authorization: 'Bearer any' },
    })
    expect(response.status).toBe(404)
    await response.body?.cancel()
  })

  it.each([
    [
      'an unknown field',
      { model: 'm', input: 'x', temprature: 1 },
      "Unknown parameter: 'temprature'.",
    ],
    ['a missing model', { input: 'x' }, "Missing required parameter: 'model'."],
    [
      'an unknown field of an item',
      { model: 'm', input: [{ role: 'user', content: 'x', foo: 1 }] },
      "Unknown parameter: 'input[0].foo'.",
    ],
    [
      'an output without call_id',
      { model: 'm', input: [{ type: 'function_call_output', output: 'x' }] },
      "Missing required parameter: 'input[0].call_id'.",
    ],
    ['streaming', { model: 'm', input: 'x', stream: true }, "'stream'"],
    [
      'a background response that is not to be stored',
      { model: 'm', input: 'x', background: true, store: false },
      'need to be stored',
    ],
    [
      'a hosted tool',
      { model: 'm', input: 'x', tools: [{ type: 'web_search' }] },
      "'tools[0].type'",
    ],
    [
      'effort none',
      { model: 'm', input: 'x', reasoning: { effort: 'none' } },
      "'reasoning.effort'",
    ],
    ['an empty conversation', { model: 'm', input: [] }, "'input'"],
    ['a list as body', [], 'the request body'],
  ])('answers 400 to %s and names it', async (_name, request, message) => {
    const { status, body } = await post(request)
    expect(status).toBe(400)
    expect(body.error.message).toContain(message)
  })

  it('answers 400 to a body that is not JSON and 413 to one that is too large', async () => {
    expect((await post('{"model":')).status).toBe(400)
    expect((await post({ model: 'm', input: 'x'.repeat(8_000_001) })).status).toBe(413)
  })

  it('says on its page what it is', async () => {
    const page = await fetch(new URL('/', service.url))
    expect(await page.text()).toContain('not Astra')
  })
})
