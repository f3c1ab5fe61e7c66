import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeBackend } from '../support/backend-suite.ts'
import { openQdrantStore } from '../support/server-stores.ts'
import { pythonWith } from './python.ts'

const { python, skip } = await pythonWith('qdrant_edge', 'qdrant-edge-py==0.9.0')
const title = "the qdrant backend, against Qdrant's own engine"

/**
 * Where Python has Qdrant's engine, the product has to get along with it as with our double: filters,
 * conditional writes and words are the engine's own.
 */
describe.skipIf(skip !== null)(skip === null ? title : `${title} (${skip})`, () => {
  let engine: ChildProcess
  let url: string

  beforeAll(async () => {
    const script = join(import.meta.dirname, 'qdrant_engine.py')
    engine = spawn(String(python), [script], { stdio: ['pipe', 'pipe', 'inherit'] })
    const [port] = await once(engine.stdout ?? engine, 'data')
    url = `http://127.0.0.1:${String(port).trim()}`
  })
  afterAll(async () => {
    const ended = once(engine, 'exit')
    engine.stdin?.end()
    await ended
  })

  describeBackend(() => openQdrantStore({ url, apiKey: undefined }), { countsOfTwo: true })
})
