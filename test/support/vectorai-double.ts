import { z } from 'zod'
import {
  type DoubleAnswer,
  DoubleError,
  type DoubleRequest,
  type DoubleServer,
  startDoubleServer,
} from './double-server.ts'
import { PointStore } from './point-store.ts'
import { type Collection, operations, parse } from './vectorai-operations.ts'

export type VectoraiOptions = {
  /** Wanted in `api-key` or as a bearer token. */
  token?: string
  /** How many vectors all collections may hold together, as the free edition limits them. */
  capacity?: number
  /** Answers payloads and vectors as JSON strings. */
  texts?: boolean
}

const createSchema = z.object({
  vectors: z.object({ size: z.number().int().positive(), distance: z.string() }),
})
const NOT_THERE =
  /^[A-Z]+ (aliases|snapshots|flush|optimize|index|points\/(recommend|search\/groups))\b/

/** An Actian VectorAI DB as its REST API is documented, with exact search. */
export async function startVectoraiDouble(options: VectoraiOptions = {}): Promise<DoubleServer> {
  const collections = new Map<string, Collection>()

  function find(name: string): Collection {
    const found = collections.get(name)
    if (!found) throw new DoubleError(404, `Collection '${name}' not found`)
    return found
  }

  function answer(request: DoubleRequest, half: boolean): DoubleAnswer {
    const { method, parts, headers, body } = request
    if (!isWelcome(headers, options.token)) throw new DoubleError(401, 'invalid credentials')
    const [first = 'healthz', name, ...rest] = parts
    if (first === 'healthz') {
      return { status: 200, body: { title: 'Actian VectorAI DB', version: '1.0.0' } }
    }
    if (first !== 'collections') throw new DoubleError(404, 'no such path')
    if (name === undefined) return ok({ collections: [...collections.keys()].map(named) })
    const call = `${method} ${rest.join('/')}`
    if (call === 'GET exists') return ok({ exists: collections.has(name) })
    if (call === 'PUT ') return ok(create(name, body))
    if (call === 'DELETE ') return ok(collections.delete(find(name) && name))
    return ok(onPoints(find(name), call, body, half))
  }

  function onPoints(collection: Collection, call: string, body: unknown, half: boolean): unknown {
    if (NOT_THERE.test(call)) throw new DoubleError(501, `${call} is not implemented`)
    const [, single] = call.match(/^GET points\/([^/]+)$/) ?? []
    if (single) return operations.one?.(collection, single, options)
    const operation = operations[call]
    if (!operation) throw new DoubleError(404, `no such path: ${call}`)
    if (call !== 'POST points/delete') refuseAbove(options.capacity, call, body)
    if (!half) return operation(collection, body, options)
    operation(collection, firstHalf(body), options)
    throw new DoubleError(500, 'internal error: batch applied in part')
  }

  function create(name: string, body: unknown): boolean {
    if (collections.has(name)) throw new DoubleError(409, `Collection '${name}' already exists`)
    collections.set(name, { ...parse(createSchema, body).vectors, points: new PointStore() })
    return true
  }

  /** Above the limit nothing but deletes is served; an upsert may not go over it either. */
  function refuseAbove(capacity: number | undefined, call: string, body: unknown): void {
    if (capacity === undefined) return
    const held = [...collections.values()].reduce((sum, { points }) => sum + points.size, 0)
    const added = call === 'PUT points' ? ((body as { points?: unknown[] }).points?.length ?? 0) : 0
    if (held + added > capacity) {
      throw new DoubleError(403, `vector count limit exceeded: ${held} of ${capacity}`)
    }
  }

  return startDoubleServer(answer, (message) => ({ status: { error: message }, time: 0 }))
}

function isWelcome(headers: DoubleRequest['headers'], token: string | undefined): boolean {
  return !token || headers['api-key'] === token || headers.authorization === `Bearer ${token}`
}

const named = (name: string) => ({ name })

function firstHalf(body: unknown): unknown {
  const { points } = z.object({ points: z.array(z.unknown()) }).parse(body)
  return { points: points.slice(0, Math.ceil(points.length / 2)) }
}

const ok = (result: unknown): DoubleAnswer => ({
  status: 200,
  body: { usage: {}, time: 0.0001, status: 'ok', result },
})
