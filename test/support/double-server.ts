import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type DoubleRequest = {
  method: string
  /** Of the path, decoded: `/collections/a%20b/points` is ['collections', 'a b', 'points']. */
  parts: string[]
  query: URLSearchParams
  headers: IncomingMessage['headers']
  /** The parsed JSON body; undefined without one. */
  body: unknown
}

export type DoubleAnswer = { status: number; body: unknown; headers?: Record<string, string> }

/** A refusal of the server, as a status and the text of its error. */
export class DoubleError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** What the next requests meet instead of the server, the first entry first. */
export type Trouble =
  /** Answers with this status and does nothing. */
  | { kind: 'refuse'; status: number; headers?: Record<string, string> }
  /** Does what was asked, then cuts the connection: the client cannot know. */
  | { kind: 'lose_answer' }
  /** Never answers. */
  | { kind: 'hang' }
  /** Looks at the request only after that. */
  | { kind: 'hold'; until: Promise<unknown> }
  /** Does half of a batch, where that is documented, and answers 500. */
  | { kind: 'half' }

export type DoubleServer = {
  url: string
  requests: DoubleRequest[]
  /** Meets the next requests whose method and path fit `to`, one entry each. */
  trouble(list: Trouble[], to?: RegExp): void
  /** Ends the server and all its connections. What is stored stays. */
  stop(): Promise<void>
  /** Starts it again, at the same port. */
  start(): Promise<void>
}

/** An HTTP server that speaks JSON, at a free port of this machine, with faults on demand. */
export async function startDoubleServer(
  answer: (request: DoubleRequest, half: boolean) => DoubleAnswer,
  errorBody: (message: string) => unknown,
): Promise<DoubleServer> {
  const troubles: { trouble: Trouble; to: RegExp }[] = []
  const requests: DoubleRequest[] = []
  let server: Server | undefined
  let port = 0

  function takeTrouble(request: DoubleRequest): Trouble | undefined {
    const line = `${request.method} /${request.parts.join('/')}`
    const index = troubles.findIndex(({ to }) => to.test(line))
    return index < 0 ? undefined : troubles.splice(index, 1)[0]?.trouble
  }

  function settle(request: DoubleRequest, half: boolean): DoubleAnswer {
    try {
      return answer(request, half)
    } catch (error) {
      if (!(error instanceof DoubleError)) throw error
      return { status: error.status, body: errorBody(error.message) }
    }
  }

  async function start(): Promise<void> {
    const listening = createServer(async (incoming, outgoing) => {
      const request = await readRequest(incoming)
      requests.push(request)
      const trouble = takeTrouble(request)
      if (trouble?.kind === 'hang') return
      if (trouble?.kind === 'hold') await trouble.until
      const { status, body, headers } =
        trouble?.kind === 'refuse'
          ? { ...trouble, body: errorBody(refusal(trouble.status)) }
          : settle(request, trouble?.kind === 'half')
      if (trouble?.kind === 'lose_answer') {
        outgoing.destroy()
        return
      }
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers })
      outgoing.end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve))
    port = (listening.address() as AddressInfo).port
    server = listening
  }

  await start()
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    trouble(list, to = /./) {
      troubles.push(...list.map((trouble) => ({ trouble, to })))
    },
    async stop() {
      const stopping = server
      if (!stopping) return
      server = undefined
      const closed = new Promise((resolve) => stopping.close(resolve))
      stopping.closeAllConnections()
      await closed
    },
    start,
  }
}

function refusal(status: number): string {
  return status === 412 ? 'engine not initialized' : `refused with ${status}`
}

async function readRequest(incoming: IncomingMessage): Promise<DoubleRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const url = new URL(incoming.url ?? '/', 'http://double')
  return {
    method: incoming.method ?? 'GET',
    parts: url.pathname.split('/').filter(Boolean).map(decodeURIComponent),
    query: url.searchParams,
    headers: incoming.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}
