import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'

export type Body = ResponseCreateParamsNonStreaming & { input: { [key: string]: unknown }[] }

/** What the model says to one request: items, or a whole HTTP answer. */
export type Reply =
  | { output: object[]; status?: string; incomplete_details?: object; service_tier?: string }
  | { http: number; body: unknown; headers?: Record<string, string> }
  | { raw: string; headers?: Record<string, string> }
  /** The connection is reset: before anything was said, or after this much. */
  | { drop: true }
  | { cut: string }
  /** Nothing comes any more, after this much or from the beginning. */
  | { hang: string | null }

export type ScriptedModel = {
  url: string
  /** The bodies received, in order. */
  bodies: Body[]
  /** How often a background response was asked for. */
  looks: number
  close(): Promise<void>
}

/**
 * A Responses API endpoint that says what the test wants, where the stand-in would not: wrong
 * arguments, broken JSON, faults. `script` is asked with each body and its number from 1.
 */
export async function startScriptedModel(
  script: (body: Body, n: number) => Reply | Promise<Reply>,
): Promise<ScriptedModel> {
  const bodies: Body[] = []
  const background = new Background()
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return background.look(request.url ?? '', response)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body: Body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    bodies.push(body)
    const n = bodies.length
    const reply = await script(body, n)
    if (body.background && 'output' in reply) background.begin(wrap(reply, n), response)
    else send(response, reply, n)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    bodies,
    get looks() {
      return background.looks
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Responses that are at work when they are first looked at, and done from the second time on. */
class Background {
  looks = 0
  readonly #answers = new Map<string, { answer: object; looks: number }>()

  begin(answer: { id: string }, response: ServerResponse): void {
    this.#answers.set(answer.id, { answer, looks: 0 })
    json(response, 200, { ...answer, status: 'queued', output: [], usage: null })
  }

  look(url: string, response: ServerResponse): void {
    this.looks += 1
    const found = this.#answers.get(url.split('/').at(-1)?.split('?')[0] ?? '')
    if (!found) {
      json(response, 404, { error: { message: 'no such response' } })
      return
    }
    found.looks += 1
    const open = { ...found.answer, status: 'in_progress', output: [], usage: null }
    json(response, 200, found.looks === 1 ? open : found.answer)
  }
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function send(response: ServerResponse, reply: Reply, n: number): void {
  if ('drop' in reply) {
    response.destroy()
    return
  }
  if ('cut' in reply || 'hang' in reply) {
    sendPart(response, reply)
    return
  }
  const status = 'http' in reply ? reply.http : 200
  const headers = 'output' in reply ? {} : reply.headers
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(
    'raw' in reply ? reply.raw : JSON.stringify('http' in reply ? reply.body : wrap(reply, n)),
  )
}

function sendPart(
  response: ServerResponse,
  reply: { cut: string } | { hang: string | null },
): void {
  const part = 'cut' in reply ? reply.cut : reply.hang
  if (part === null) return
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write(part, () => {
    if ('cut' in reply) response.destroy()
  })
}

function wrap(reply: Extract<Reply, { output: object[] }>, n: number) {
  return {
    id: `resp_${n}`,
    object: 'response',
    created_at: 0,
    model: 'gpt-6-astra',
    status: reply.status ?? 'completed',
    error: null,
    incomplete_details: reply.incomplete_details ?? null,
    service_tier: reply.service_tier ?? 'default',
    output: reply.output,
    usage: {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 100,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1100,
    },
  }
}

let made = 0

/** A completed function call; `args` as an object, or as the raw text of broken JSON. */
export function functionCall(name: string, args: object | string, extra: object = {}) {
  made += 1
  return {
    type: 'function_call',
    id: `fc_${made}`,
    call_id: `call_${made}`,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
    status: 'completed',
    ...extra,
  }
}

export function message(text: string) {
  return {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
}

export const searchCall = (handle = 'memory') =>
  functionCall(
    'search_codebase_memory',
    { query: 'AssertionError', error_type: null, top_k: 3, task_handle: handle },
    { async: true },
  )
