import { afterAll, beforeAll, describe } from 'vitest'
import { describeBackend } from '../support/backend-suite.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'
import { openQdrantStore } from '../support/server-stores.ts'

describe('the qdrant backend, against a server that answers as documented', () => {
  let double: DoubleServer
  beforeAll(async () => {
    double = await startQdrantDouble({ apiKey: 'a key' })
  })
  afterAll(() => double.stop())

  describeBackend(() => openQdrantStore({ url: double.url, apiKey: 'a key' }), {
    countsOfTwo: true,
  })
})

const { QDRANT_URL, QDRANT_API_KEY } = process.env

const title = 'the qdrant backend, against the server of QDRANT_URL'
describe.skipIf(!QDRANT_URL)(QDRANT_URL ? title : `${title} (QDRANT_URL is not set)`, () => {
  const server = { url: QDRANT_URL ?? '', apiKey: QDRANT_API_KEY || undefined }
  describeBackend(() => openQdrantStore(server), { countsOfTwo: true })
})
