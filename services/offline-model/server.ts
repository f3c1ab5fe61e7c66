import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { ApiError, errorBody } from './api-error.ts'
import { bodyAt, cancelResponse, responseNotFound } from './background.ts'
import { createResponse, type Deps } from './create-response.ts'
import { indexPage } from './index-page.ts'
import { STAND_IN_NOTICE } from './stand-in.ts'

/** A conversation that fills the real model's context is about 4 MB. */
const MAX_BODY_BYTES = 8_000_000
const REQUEST_TIMEOUT_MS = 60_000

/** The stand-in's HTTP server, not listening yet. */
export function createStandInServer(deps: Deps): Server {
  const server = createServer((request, response) => {
    void serve(request, response, deps)
  })
  server.requestTimeout = REQUEST_TIMEOUT_MS
  return server
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  deps: Deps,
): Promise<void> {
  const requestId = `req_${randomBytes(16).toString('hex')}`
  response.setHeader('x-request-id', requestId)
  response.setHeader('x-stand-in', STAND_IN_NOTICE)
  try {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    if (path === '/' && request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(indexPage)
      return
    }
    requireKey(request)
    sendJson(response, 200, await route(request, path, deps))
  } catch (error) {
    const known = error instanceof ApiError
    if (known) deps.log.warn({ requestId, status: error.status, error: error.message }, 'refused')
    else deps.log.error({ requestId, err: error }, 'failed')
    const answer = known ? error : new ApiError(500, 'The local stand-in failed; see its log.')
    sendJson(response, answer.status, errorBody(answer))
  }
}

async function route(request: IncomingMessage, path: string, deps: Deps): Promise<unknown> {
  if (path === '/v1/responses' && request.method === 'POST') {
    return createResponse(await readJson(request), deps)
  }
  const [, id, action] = /^\/v1\/responses\/([^/]+)(\/cancel)?$/.exec(path) ?? []
  if (id !== undefined && action && request.method === 'POST') return cancelResponse(id, deps)
  if (id !== undefined && !action && request.method === 'GET') {
    const stored = await deps.store.load(id)
    if (stored) return bodyAt(stored, deps.now())
    throw responseNotFound(id)
  }
  if (id !== undefined || path === '/v1/responses') {
    throw new ApiError(405, `${request.method} is not supported on ${path}. ${STAND_IN_NOTICE}`)
  }
  throw new ApiError(404, `Invalid URL (${request.method} ${path}). ${STAND_IN_NOTICE}`)
}

/** Any key will do, but one must be there: a client that forgets it fails here as it would live. */
function requireKey(request: IncomingMessage): void {
  if (/^Bearer \S+$/.test(request.headers.authorization ?? '')) return
  throw new ApiError(401, 'Missing bearer authentication in header', { code: 'invalid_api_key' })
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) {
      throw new ApiError(413, `The request body is larger than ${MAX_BODY_BYTES} bytes.`)
    }
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw new ApiError(400, 'The body of the request is not valid JSON.', { cause })
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  // The rest of a body that was not read would be taken for the next request.
  if (status >= 400) response.setHeader('connection', 'close')
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
