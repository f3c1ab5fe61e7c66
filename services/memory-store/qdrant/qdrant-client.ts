import { QdrantClient } from '@qdrant/js-client-rest'
import { AstraError, errorText } from '../../../shared/errors.ts'
import { MemoryDatabaseError } from '../database-error.ts'
import { type Fault, persist } from '../points/persist.ts'

export type QdrantOptions = { url: string; apiKey: string | undefined; collection: string }

/** One request may take this long; a search on a large cluster takes some tenths of it. */
const REQUEST_MS = 10_000

/** Calls of the client, repeated while the server is away, with its refusals made plain. */
export type Qdrant = {
  collection: string
  /** Throws UnavailableError when the server stays away, MemoryDatabaseError when it refuses. */
  ask<T>(request: (client: QdrantClient) => Promise<T>): Promise<T>
  close(): void
}

export function connectQdrant({ url, apiKey, collection }: QdrantOptions): Qdrant {
  const { origin, protocol, port, pathname } = new URL(url)
  const client = new QdrantClient({
    url: origin,
    // Without a port the client would take 6333, whatever the URL's scheme says.
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    ...(pathname === '/' ? {} : { prefix: pathname.replace(/\/$/, '') }),
    ...(apiKey === undefined ? {} : { headers: { 'api-key': apiKey } }),
    timeout: REQUEST_MS,
    checkCompatibility: false,
  })
  const closing = new AbortController()
  return {
    collection,
    async ask(request) {
      try {
        return await persist(`Qdrant at ${origin}`, () => request(client), {
          faultOf,
          closing: closing.signal,
        })
      } catch (error) {
        throw error instanceof AstraError ? error : refusal(error, origin)
      }
    },
    close: () => closing.abort(),
  }
}

function faultOf(error: unknown): Fault {
  const status = statusOf(error)
  if (status === 429) return 'busy'
  // Without a status there was no answer: no connection, a cut one, or a time limit.
  return status === undefined || status >= 500 ? 'away' : 'final'
}

/** The HTTP status of an answer that the client threw. */
export function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && 'status' in error ? error.status : undefined
  if (typeof status === 'number') return status
  // The client drops the status of a 429 that says when to come again.
  return error instanceof Error && 'retry_after' in error ? 429 : undefined
}

function refusal(error: unknown, origin: string): MemoryDatabaseError {
  const status = statusOf(error)
  const data = error instanceof Error && 'data' in error ? error.data : undefined
  const said = JSON.stringify(data ?? errorText(error)).slice(0, 500)
  const hint = status === 401 || status === 403 ? { hint: 'is ASTRA_QDRANT_API_KEY right?' } : {}
  return new MemoryDatabaseError(`Qdrant at ${origin} refused with ${status}: ${said}`, {
    ...hint,
    cause: error,
  })
}
