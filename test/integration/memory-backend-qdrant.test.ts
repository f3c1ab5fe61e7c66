import { afterAll, beforeAll, describe } from 'vitest'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { createQdrantBackend } from '../../services/memory-store/qdrant/qdrant-backend.ts'
import { describeBackend, dimensions, type TestStore } from '../support/backend-suite.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'

let double: DoubleServer
let made = 0

beforeAll(async () => {
  double = await startQdrantDouble()
})
afterAll(() => double.stop())

describe('the qdrant backend, against a server that answers as documented', () => {
  describeBackend(() => openStore({ url: double.url, apiKey: undefined }), { countsOfTwo: true })
})

async function openStore(server: { url: string; apiKey: string | undefined }): Promise<TestStore> {
  made += 1
  const options = { ...server, collection: `suite-${made}`, dimensions }
  const opened: MemoryBackend[] = []
  const openOne = async () => {
    const backend = createQdrantBackend(options)
    opened.push(backend)
    return backend
  }
  return {
    backend: await openOne(),
    another: openOne,
    async close() {
      for (const backend of opened) await backend.close()
      await dropCollection(server, options.collection)
    },
  }
}

/** By the test alone: the product never drops a collection. */
async function dropCollection(
  { url, apiKey }: { url: string; apiKey: string | undefined },
  name: string,
): Promise<void> {
  const headers = { 'content-type': 'application/json', 'api-key': apiKey ?? '' }
  await fetch(`${url}/collections/${name}`, { method: 'DELETE', headers, body: '{}' })
}
