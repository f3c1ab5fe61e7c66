import { randomBytes } from 'node:crypto'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { createQdrantBackend } from '../../services/memory-store/qdrant/qdrant-backend.ts'
import { createVectoraiBackend } from '../../services/memory-store/vectorai/vectorai-backend.ts'
import { dimensions, type TestStore } from './backend-suite.ts'

/** A collection of the test's own at a Qdrant. */
export async function openQdrantStore(server: {
  url: string
  apiKey: string | undefined
}): Promise<TestStore> {
  const collection = newName()
  const open = () => createQdrantBackend({ ...server, collection, dimensions })
  const headers = { 'api-key': server.apiKey ?? '' }
  return serverStore(open, `${server.url}/collections/${collection}`, headers)
}

/** A collection of the test's own at a VectorAI DB, which must hold no other. */
export async function openVectoraiStore(server: {
  url: string
  token: string | undefined
}): Promise<TestStore> {
  const collection = newName()
  const open = () => createVectoraiBackend({ ...server, collection, dimensions })
  const headers = { authorization: `Bearer ${server.token ?? ''}` }
  return serverStore(open, `${server.url}/collections/${collection}`, headers)
}

function newName(): string {
  return `astra_test_${randomBytes(6).toString('hex')}`
}

function serverStore(
  open: () => MemoryBackend,
  collectionUrl: string,
  headers: Record<string, string>,
): TestStore {
  const opened = [open()]
  const [backend = open()] = opened
  return {
    backend,
    async another() {
      const other = open()
      opened.push(other)
      return other
    },
    async close() {
      for (const each of opened) await each.close()
      // By the test alone: the product drops no collection.
      await fetch(collectionUrl, {
        method: 'DELETE',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{}',
      })
    },
  }
}
