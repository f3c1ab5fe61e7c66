import { z } from 'zod'
import {
  type DoubleAnswer,
  DoubleError,
  type DoubleRequest,
  type DoubleServer,
  startDoubleServer,
} from './double-server.ts'
import { PointStore } from './point-store.ts'
import { type Collection, operations, parse, vectorParams } from './qdrant-operations.ts'

const createSchema = z.object({
  vectors: z.union([vectorParams, z.record(z.string(), vectorParams)]).default({}),
  sparse_vectors: z.record(z.string(), z.unknown()).default({}),
})

/** A Qdrant as its REST API is documented, as far as the product uses it, with exact search. */
export async function startQdrantDouble(
  options: { apiKey?: string; version?: string } = {},
): Promise<DoubleServer> {
  const collections = new Map<string, Collection>()

  function find(name: string): Collection {
    const found = collections.get(name)
    if (!found) throw new DoubleError(404, `Not found: Collection \`${name}\` doesn't exist!`)
    return found
  }

  function answer(request: DoubleRequest): DoubleAnswer {
    const { method, parts, headers } = request
    if (parts[0] === 'healthz') return { status: 200, body: 'healthz check passed' }
    if (options.apiKey && headers['api-key'] !== options.apiKey) {
      return { status: 401, body: 'Must provide an API key or an Authorization bearer token' }
    }
    if (parts.length === 0) {
      const version = options.version ?? '1.19.0'
      return { status: 200, body: { title: 'qdrant - vector search engine', version } }
    }
    const [first, name = '', ...rest] = parts
    if (first !== 'collections') throw new DoubleError(404, 'no such path')
    return ok(onCollection(name, `${method} ${rest.join('/')}`, request.body))
  }

  function onCollection(name: string, call: string, body: unknown): unknown {
    if (call === 'GET exists') return { exists: collections.has(name) }
    if (call === 'PUT ') return create(name, body)
    if (call === 'DELETE ') return collections.delete(name)
    const operation = operations[call]
    if (!operation) throw new DoubleError(404, `no such path: ${call}`)
    return operation(find(name), body)
  }

  function create(name: string, body: unknown): boolean {
    if (collections.has(name)) {
      throw new DoubleError(409, `Wrong input: Collection \`${name}\` already exists!`)
    }
    collections.set(name, {
      ...parse(createSchema, body),
      indexes: new Map(),
      points: new PointStore(),
    })
    return true
  }

  return startDoubleServer(answer, (message) => ({ status: { error: message }, time: 0 }))
}

const ok = (result: unknown): DoubleAnswer => ({
  status: 200,
  body: { usage: null, result, status: 'ok', time: 0.0001 },
})
