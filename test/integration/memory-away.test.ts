import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisSocketPath } from '../../shared/config.ts'
import type { JobName, Payload, Result } from '../../shared/contracts/catalog.ts'
import { jobIdOf, memoryIdOf } from '../../shared/contracts/ids.ts'
import type { StorePayload } from '../../shared/contracts/memory.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { samplePayload } from '../support/memory.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { failToStart, type ServiceProcess, startService } from '../support/service-process.ts'
import { startVectoraiDouble } from '../support/vectorai-double.ts'

let home: string
let redis: TestRedis
let client: ReturnType<typeof connectOrFail>
let producer: Producer
let embedder: ServiceProcess

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-home-'))
  redis = await startRedis(redisSocketPath(home, {}))
  client = connectOrFail(redis.address)
  producer = createProducer(client)
  embedder = await startService('embedder', home)
})

afterAll(async () => {
  await embedder?.end('SIGTERM')
  await producer?.close()
  client?.disconnect()
  await redis?.stop()
  await rm(home, { recursive: true, force: true })
})

function request<J extends JobName<'memory'>>(
  name: J,
  id: string,
  payload: Payload<'memory', J>,
  texts: string[] = [],
): Promise<Result<'memory', J>> {
  const embed = flowJob('embeddings', 'embed', { texts: ['-'] }, jobIdOf('embed', name, id))
  const children = texts.length > 0 ? [{ ...embed, data: { texts } }] : []
  const flow = flowJob('memory', name, payload, jobIdOf(name, id), children)
  return ask(producer, { ...flow, queueName: 'memory', name }, { timeoutMs: 150_000 })
}

const store = (payload: StorePayload) =>
  request('store', payload.session_id, payload, [
    payload.evidence.symptom,
    payload.claim.fix_description,
  ])
const search = (id: string, query: string) =>
  request('search', id, { query, error_type: null, top_k: 5 }, [query])
const list = (id: string) => request('list', id, { limit: 10, offset: 0, session_id: null })

const servers = [
  { kind: 'qdrant', start: startQdrantDouble, variable: 'ASTRA_QDRANT_URL' },
  { kind: 'vectorai', start: startVectoraiDouble, variable: 'ASTRA_VECTORAI_URL' },
]

describe.each(servers)('a memory in $kind', ({ kind, start, variable }) => {
  let double: DoubleServer
  let memory: ServiceProcess
  let env: Record<string, string>

  beforeAll(async () => {
    double = await start({})
    env = { ASTRA_STORE: kind, [variable]: double.url }
    memory = await startService('memory-store', home, env)
  })
  afterAll(async () => {
    await memory?.end('SIGTERM')
    await double?.stop()
  })

  it('accepts what is confirmed while its server is away, and stores it when that is back', async () => {
    const key = loadSigningKey(home)
    const early = samplePayload(key, `run-early-${kind}`)
    expect(await store(early)).toMatchObject({ stored: true })
    await double.stop()

    await expect(search(`away-${kind}`, 'a list with spaces')).rejects.toThrow('does not answer')
    // Of another kind: two of one kind would become one.
    const late = samplePayload(key, `run-late-${kind}`, { error_type: 'TypeError' })
    const memory_id = memoryIdOf({ session_id: late.session_id, ...late.claim })
    expect(await store(late)).toEqual({ stored: true, memory_id, waiting: true })

    // Neither the death of the process nor its start without a server loses it.
    await memory.end('SIGKILL')
    memory = await startService('memory-store', home, env)
    const later = jobIdOf('store-later', memory_id, late.confirmed_at)
    const state = () => producer.queue('memory').getJobState(later)
    expect(['delayed', 'active', 'waiting']).toContain(await state())

    await double.start()
    await expect.poll(state).toBe('completed')
    const { records } = await list(`back-${kind}`)
    expect(records.map((record) => [record.session_id, record.proved]).sort()).toEqual([
      [`run-early-${kind}`, true],
      [`run-late-${kind}`, true],
    ])
    const found = await search(`back-${kind}`, late.evidence.symptom)
    expect(found.matches.map(({ session_id }) => session_id)).toContain(late.session_id)
  })

  it('does not start on a collection of another size, and leaves it as it is', async () => {
    const other = await start({})
    try {
      const shape = { size: DIMENSIONS + 1, distance: 'Cosine' }
      const vectors = kind === 'qdrant' ? { symptom: shape, fix: shape } : shape
      await fetch(`${other.url}/collections/astra_codebase_memory`, {
        method: 'PUT',
        body: JSON.stringify({ vectors }),
      })
      const made = other.requests.length
      const { code, output } = await failToStart('memory-store', home, {
        ...env,
        [variable]: other.url,
      })
      expect(code).toBe(1)
      expect(output).toContain(
        `astra_codebase_memory holds vectors of ${DIMENSIONS + 1} dimensions and the embedding ` +
          `model makes ${DIMENSIONS}; it was not altered`,
      )
      const methods = other.requests.slice(made).map(({ method }) => method)
      expect(new Set(methods)).toEqual(new Set(['GET']))
    } finally {
      await other.stop()
    }
  })
})
