import { afterAll, beforeAll, describe } from 'vitest'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { createVectoraiBackend } from '../../services/memory-store/vectorai/vectorai-backend.ts'
import { describeBackend, dimensions, type TestStore } from '../support/backend-suite.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { startVectoraiDouble } from '../support/vectorai-double.ts'

let double: DoubleServer
let made = 0

beforeAll(async () => {
  double = await startVectoraiDouble()
})
afterAll(() => double.stop())

describe('the vectorai backend, against a server that answers as documented', () => {
  describeBackend(() => openStore({ url: double.url, token: undefined }), { countsOfTwo: false })
})

async function openStore(server: { url: string; token: string | undefined }): Promise<TestStore> {
  made += 1
  const options = { ...server, collection: `suite-${made}`, dimensions }
  const opened: MemoryBackend[] = []
  const openOne = async () => {
    const backend = createVectoraiBackend(options)
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
  { url, token }: { url: string; token: string | undefined },
  name: string,
): Promise<void> {
  const headers = { 'content-type': 'application/json', 'api-key': token ?? '' }
  await fetch(`${url}/collections/${name}`, { method: 'DELETE', headers, body: '{}' })
}
