import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Item, Output } from '../../services/offline-model/repair/items.ts'
import { parseObject } from '../../services/offline-model/repair/items.ts'
import { nextOutput } from '../../services/offline-model/repair/next-output.ts'
import { parseWire, type WireBody, type WireItem } from './wire-schema.ts'

/**
 * Three servers that speak the Responses API in their own ways, as far as those are known from their
 * documentation and issues. Behind each works the repair program, so that what is said to them and
 * by them decides whether a project gets repaired. None of them knows async tools.
 */
export type ServerName = 'ollama' | 'vllm' | 'lm-studio'

type Raw = Record<string, unknown>

/** An answered request, as a server that stores responses has it. */
type Turn = { previous: string | null; input: WireItem[]; output: Raw[] }

type Manner = {
  /** What this server takes of a body. Throws Refusal or ZodError. */
  accept(raw: Raw, turns: ReadonlyMap<string, Turn>): WireBody
  /** All that it knows to have been said, this request included. Throws Refusal. */
  conversation(body: WireBody, turns: ReadonlyMap<string, Turn>): Raw[]
  /** An output item in its handwriting; `n` makes the ids. */
  write(output: Output, n: number): Raw[]
  /** `previous_response_id` of its answers. */
  echo(body: WireBody): string | null
  error(status: number, message: string): Raw
}

class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const text = (value: string, nulls: Raw) => ({
  type: 'output_text',
  text: value,
  annotations: [],
  ...nulls,
})

/** Items as the reference has them. */
const plainItem: Manner['write'] = (output, n) => [
  output.type === 'message'
    ? {
        id: `msg_${n}`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [text(output.text, { logprobs: [] })],
      }
    : functionCall(output, n, { status: 'completed' }),
]

/** Keeps nothing: a previous_response_id is passed over in silence. */
const ollama: Manner = {
  accept: (raw) => parseWire(raw),
  conversation: (body) => body.input,
  write: plainItem,
  echo: () => null,
  error: (_status, message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: null },
  }),
}

/**
 * Stores responses, but of what it stored only messages go into the next prompt. Writes every unset
 * field as null, and numbers as error codes.
 */
const vllm: Manner = {
  accept(raw, turns) {
    const input = raw.input as Raw[]
    const thoughts = [...turns.values()].flatMap((turn) => turn.output.filter(isReasoning))
    const known = new Set(thoughts.map((item) => JSON.stringify(item)))
    const altered = input.find((item) => isReasoning(item) && !known.has(JSON.stringify(item)))
    if (altered) throw new Refusal(400, `reasoning item ${altered.id} is not as it was sent`)
    return parseWire({ ...raw, input: input.filter((item) => !isReasoning(item)) })
  },
  conversation(body, turns) {
    const messages = stored(body, turns).filter((item) => item.type === 'message')
    const items = [...messages, ...body.input]
    requireCalls(items)
    return items
  },
  write: (output, n) => [
    {
      id: `rs_${n}`,
      summary: [],
      type: 'reasoning',
      content: [{ text: `thought ${n}`, type: 'reasoning_text' }],
      encrypted_content: null,
      status: null,
    },
    output.type === 'message'
      ? {
          id: `msg_${n}`,
          content: [text(output.text, { logprobs: null })],
          role: 'assistant',
          status: 'completed',
          type: 'message',
          phase: null,
        }
      : functionCall(output, n, { status: null, namespace: null }),
  ],
  echo: (body) => body.previous_response_id ?? null,
  error: (status, message) => ({
    error: { message, type: 'BadRequestError', param: null, code: status },
  }),
}

/** Keeps whole chains. */
const lmStudio: Manner = {
  accept: (raw) => parseWire(raw),
  conversation(body, turns) {
    const items = [...stored(body, turns), ...body.input]
    requireCalls(items)
    return items
  },
  write: plainItem,
  echo: (body) => body.previous_response_id ?? null,
  error: (_status, message) => ({ error: { message, type: 'invalid_request', code: null } }),
}

const manners: Record<ServerName, Manner> = { ollama, vllm, 'lm-studio': lmStudio }

const isReasoning = (item: Raw) => item.type === 'reasoning'

function functionCall(output: Extract<Output, { type: 'call' }>, n: number, rest: Raw): Raw {
  return {
    id: `fc_${n}`,
    type: 'function_call',
    call_id: `call_${n}`,
    name: output.name,
    arguments: JSON.stringify(output.args),
    ...rest,
  }
}

/** The chain that the request goes on from, oldest first. */
function stored(body: WireBody, turns: ReadonlyMap<string, Turn>): Raw[] {
  const items: Raw[][] = []
  for (let id = body.previous_response_id ?? null; id !== null; ) {
    const turn = turns.get(id)
    if (!turn) throw new Refusal(404, `Response with id '${id}' not found.`)
    items.unshift([...turn.input, ...turn.output])
    id = turn.previous
  }
  return items.flat()
}

function requireCalls(items: readonly Raw[]): void {
  const called = new Set(items.filter(({ type }) => type === 'function_call').map(callId))
  const orphan = items.find(
    (item) => item.type === 'function_call_output' && !called.has(callId(item)),
  )
  if (orphan) throw new Refusal(400, `No call message found for ${callId(orphan)}`)
}

const callId = (item: Raw) => String(item.call_id)

function toRepairItem(item: Raw): Item[] {
  if (item.type === 'function_call') {
    const args = parseObject(String(item.arguments)) ?? {}
    return [{ type: 'call', callId: callId(item), name: String(item.name), args, async: false }]
  }
  if (item.type === 'function_call_output') {
    return [{ type: 'output', callId: callId(item), text: String(item.output) }]
  }
  if (item.type !== 'message') return []
  const said = typeof item.content === 'string' ? item.content : JSON.stringify(item.content)
  return [{ type: 'message', role: item.role === 'user' ? 'user' : 'assistant', text: said }]
}

export type OtherServer = {
  url: string
  /** The bodies received, in order, as they came. */
  bodies: Raw[]
  close(): Promise<void>
}

export async function startOtherServer(name: ServerName): Promise<OtherServer> {
  const manner = manners[name]
  const turns = new Map<string, Turn>()
  const bodies: Raw[] = []
  let items = 0

  function answer(raw: Raw): Raw {
    bodies.push(raw)
    const body = manner.accept(raw, turns)
    const conversation = manner.conversation(body, turns)
    const tools = body.tools.map(({ name, parameters }) => ({ name, async: false, parameters }))
    const said = nextOutput(conversation.flatMap(toRepairItem), tools)
    const output = said.flatMap((each) => {
      items += 1
      return manner.write(each, items)
    })
    const id = `resp_${bodies.length}`
    turns.set(id, { previous: body.previous_response_id ?? null, input: body.input, output })
    return { id, output, previous_response_id: manner.echo(body), ...common(raw, output) }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    try {
      send(response, 200, answer(JSON.parse(Buffer.concat(chunks).toString('utf8'))))
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 400
      send(response, status, manner.error(status, (error as Error).message))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    bodies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function common(raw: Raw, output: Raw[]): Raw {
  const input_tokens = Math.ceil(JSON.stringify(raw).length / 4)
  const output_tokens = Math.ceil(JSON.stringify(output).length / 4)
  return {
    object: 'response',
    created_at: 0,
    model: raw.model,
    status: 'completed',
    error: null,
    incomplete_details: null,
    usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  }
}

function send(response: ServerResponse, status: number, body: Raw): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
