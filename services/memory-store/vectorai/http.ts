import { z } from 'zod'
import { AstraError, UnavailableError } from '../../../shared/errors.ts'
import { MemoryDatabaseError } from '../database-error.ts'
import { type Fault, persist } from '../points/persist.ts'

export type VectoraiOptions = { url: string; token: string | undefined; collection: string }

/** One request may take this long: the database has 5,000 vectors in the free edition. */
const REQUEST_MS = 10_000

/** What the server answered with another status than 2xx. */
class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type Http = {
  /**
   * The `result` of the answer. Repeated while the server starts or is away, so effects must be the
   * same each time. Throws UnavailableError when it stays so, MemoryDatabaseError for a refusal.
   */
  request(method: 'GET' | 'PUT' | 'POST', path: string, body?: unknown): Promise<unknown>
  close(): void
}

export function connectHttp({ url, token }: Pick<VectoraiOptions, 'url' | 'token'>): Http {
  const closing = new AbortController()
  const base = url.replace(/\/+$/, '')
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { 'api-key': token, authorization: `Bearer ${token}` }),
  }

  async function once(method: string, path: string, body: unknown): Promise<unknown> {
    const response = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(REQUEST_MS)]),
    })
    const answer = parsedJson(await response.text())
    if (response.ok) return z.object({ result: z.unknown() }).parse(answer).result
    throw new Refusal(response.status, errorOf(answer))
  }

  return {
    async request(method, path, body) {
      try {
        return await persist(`VectorAI DB at ${base}`, () => once(method, path, body), {
          faultOf,
          closing: closing.signal,
        })
      } catch (error) {
        throw error instanceof AstraError ? error : plainError(error, base)
      }
    },
    close: () => closing.abort(),
  }
}

function faultOf(error: unknown): Fault {
  if (!(error instanceof Refusal)) return 'away'
  // 412 while the engine starts, 409 while it rebuilds: both end by themselves.
  if (error.status === 409) return /exist/i.test(error.message) ? 'final' : 'busy'
  if (error.status === 412 || error.status === 429) return 'busy'
  return error.status >= 500 && error.status !== 501 ? 'away' : 'final'
}

function plainError(error: unknown, base: string): AstraError {
  if (!(error instanceof Refusal)) throw error
  const { status, message } = error
  if (status === 403 && /limit/i.test(message)) {
    return new UnavailableError(`VectorAI DB at ${base} is full: ${message}`, {
      hint: 'its free edition holds 5,000 vectors, two for a record: delete records, or get a licence',
      cause: error,
    })
  }
  const hint = status === 401 || status === 403 ? { hint: 'is ASTRA_VECTORAI_TOKEN right?' } : {}
  return new MemoryDatabaseError(`VectorAI DB at ${base} refused with ${status}: ${message}`, {
    ...hint,
    cause: error,
  })
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function errorOf(answer: unknown): string {
  const parsed = z.object({ status: z.object({ error: z.string() }) }).safeParse(answer)
  const text = parsed.success ? parsed.data.status.error : JSON.stringify(answer)
  return text.slice(0, 500)
}
