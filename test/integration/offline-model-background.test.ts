import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BACKGROUND_MS } from '../../services/offline-model/background.ts'
import { openResponsesStore } from '../../services/offline-model/responses-store.ts'
import { createStandInServer } from '../../services/offline-model/server.ts'
import { createLogger } from '../../shared/logger.ts'

/** The server's clock: it moves when a test says so. */
let now = Date.parse('2026-01-01T00:00:00Z')
const letItFinish = () => {
  now += BACKGROUND_MS
}

let folder: string
let server: Server
let client: OpenAI

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-background-'))
  const store = await openResponsesStore(folder, 100)
  const log = createLogger('offline-model', 'fatal')
  server = createStandInServer({ store, log, now: () => new Date(now) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  client = new OpenAI({ apiKey: 'any', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 })
})

afterAll(async () => {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
  await rm(folder, { recursive: true, force: true })
})

const begin = (background: boolean) =>
  client.responses.create({ model: 'gpt-6-astra', input: 'Mend it.', background })

const retrieve = (id: string) => client.responses.retrieve(id)
const cancel = (id: string) => client.responses.cancel(id)

describe('a background response', () => {
  it('is queued at once, under way for a while, then the answer that would have come directly', async () => {
    const queued = await begin(true)
    expect(queued).toMatchObject({ status: 'queued', output: [], usage: null, background: true })
    expect(await retrieve(queued.id)).toMatchObject({ status: 'in_progress', output: [] })
    letItFinish()
    const done = await retrieve(queued.id)
    const direct = await begin(false)
    expect(done).toMatchObject({ id: queued.id, status: 'completed', usage: direct.usage })
    expect(done.output_text).toBe(direct.output_text)
  })

  it('has nothing to go on from while it is under way', async () => {
    const { id } = await begin(true)
    const goOn = () =>
      client.responses.create({ model: 'm', previous_response_id: id, input: 'And now?' })
    await expect(goOn()).rejects.toMatchObject({ status: 400, param: 'previous_response_id' })
    letItFinish()
    expect(await goOn()).toMatchObject({ status: 'completed', previous_response_id: id })
  })

  it('that is cancelled while it is under way stays so', async () => {
    const { id } = await begin(true)
    expect(await cancel(id)).toMatchObject({ id, status: 'cancelled', output: [] })
    letItFinish()
    expect(await retrieve(id)).toMatchObject({ status: 'cancelled', output: [] })
    expect(await cancel(id)).toMatchObject({ status: 'cancelled' })
  })

  it('that is done cannot be cancelled any more', async () => {
    const { id } = await begin(true)
    letItFinish()
    const done = await retrieve(id)
    expect(await cancel(id)).toMatchObject({ status: 'completed', output: done.output })
  })

  it('alone can be cancelled', async () => {
    const { id } = await begin(false)
    await expect(cancel(id)).rejects.toMatchObject({ status: 400 })
    await expect(cancel('resp_unknown')).rejects.toMatchObject({ status: 404 })
  })
})
