import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createJournalStore } from '../../services/agent-runner/journal/journal-store.ts'
import { openResponsesStore } from '../../services/offline-model/responses-store.ts'
import { createStandInServer } from '../../services/offline-model/server.ts'
import { productRoot } from '../../shared/config.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { createLogger } from '../../shared/logger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createAstra } from '../support/astra.ts'
import { type OtherServer, type ServerName, startOtherServer } from '../support/other-servers.ts'
import { rebuiltBodies } from '../support/wire-conversation.ts'

const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')

const cleanUp: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each()
})

type Chain = 'previous' | 'resend'

async function fixWith(name: ServerName, chain: Chain) {
  const server = await startOtherServer(name)
  cleanUp.push(() => server.close())
  return { server, ...(await fixThrough(server.url, chain)) }
}

/** A live run on an installation of its own, against that server, without approving any cost. */
async function fixThrough(url: string, chain: Chain, env: Record<string, string> = {}) {
  const astra = await createAstra({
    OPENAI_API_KEY: 'anything',
    OPENAI_BASE_URL: url,
    ASTRA_MODEL: 'local-model',
    ASTRA_PRICES: '0,0,0,0',
    ASTRA_CHAIN: chain,
    ...env,
  })
  cleanUp.push(() => astra.remove())
  const lease = await astra.hold()
  cleanUp.push(() => lease.release())
  const workspace = await mkdtemp(join(tmpdir(), 'astra-other-'))
  cleanUp.push(() => rm(workspace, { recursive: true, force: true }))
  await cp(template, workspace, { recursive: true })
  const interrupt = new AbortController()
  cleanUp.push(async () => interrupt.abort())
  const result = await astra.cli(['fix', workspace, '--json'], { signal: interrupt.signal })
  if (!result.stdout.trim()) throw new Error(result.stderr)
  const view: RunView = JSON.parse(result.stdout)
  const memory = await astra.cli(['memory', 'list', '--json'])
  const transcript = await readFile(
    join(astra.home, 'runs', view.run_id, 'transcript.jsonl'),
    'utf8',
  )
  const redis = connectOrFail(astra.config.redis)
  const journal = await createJournalStore(redis).load(view.run_id)
  redis.disconnect()
  return { view, memory: JSON.parse(memory.stdout), transcript, journal, chain }
}

type Item = Record<string, unknown>
const inputOf = (server: OtherServer, n: number) => (server.bodies.at(n)?.input ?? []) as Item[]

function expectRepair({ view, memory }: Awaited<ReturnType<typeof fixThrough>>) {
  expect(view.message).toBe('node passed with exit code 0')
  expect(view).toMatchObject({
    status: 'fixed',
    applied: true,
    model: 'local-model',
    cost_usd: 0,
    cost_is_notional: false,
  })
  expect(view.tokens.total).toBeGreaterThan(0)
  expect(JSON.stringify(memory)).toContain(view.stored_memory_id)
  expect(view.stored_memory_id).not.toBeNull()
}

/** What went over the wire is what the run's journal in Redis gives again, byte for byte. */
function expectReplay({ journal, server, chain }: Awaited<ReturnType<typeof fixWith>>) {
  const settings = { model: 'local-model', effort: 'low', chain, tier: null } as const
  expect(rebuiltBodies(journal, settings)).toEqual(
    server.bodies.map((body) => JSON.stringify(body)),
  )
}

describe('a server without a chain (Ollama)', () => {
  it('repairs a project when the whole conversation is resent', async () => {
    const run = await fixWith('ollama', 'resend')
    expectRepair(run)
    expectReplay(run)
    expect(run.server.bodies).toHaveLength(run.view.requests)
    for (const [n, body] of run.server.bodies.entries()) {
      expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
      const before = n === 0 ? [] : inputOf(run.server, n - 1)
      expect(inputOf(run.server, n).slice(0, before.length)).toEqual(before)
    }
  })

  it('ends the run at its second answer when a chain is asked for, and says what to set', async () => {
    const { view } = await fixWith('ollama', 'previous')
    expect(view).toMatchObject({ status: 'failed', reason: 'model_output_invalid', requests: 2 })
    expect(view.message).toContain('ASTRA_CHAIN=resend')
  })
})

describe('a server that loses function items when chaining (vLLM)', () => {
  it('repairs a project when the whole conversation is resent, without the nulls that it wrote', async () => {
    const run = await fixWith('vllm', 'resend')
    expectRepair(run)
    expectReplay(run)
    const resent = inputOf(run.server, -1).filter((item) => item.type === 'function_call')
    expect(resent.length).toBeGreaterThan(3)
    expect(resent.filter((item) => 'status' in item)).toEqual([])
    expect(run.transcript).toContain('"status":null')
    const thoughts = inputOf(run.server, -1).filter((item) => item.type === 'reasoning')
    expect(thoughts[0]).toMatchObject({ encrypted_content: null, status: null })
  })

  it('ends the run at once when a chain is asked for, with the words of the server', async () => {
    const { view } = await fixWith('vllm', 'previous')
    expect(view).toMatchObject({ status: 'failed', reason: 'model_error', requests: 2 })
    expect(view.message).toContain('No call message found for call_')
  })
})

describe('a server that chains but knows no async tools (LM Studio)', () => {
  it('repairs a project through its chain, the search being an ordinary call', async () => {
    const run = await fixWith('lm-studio', 'previous')
    expectRepair(run)
    expectReplay(run)
    expect(run.server.bodies[1]?.previous_response_id).toBe('resp_1')
    expect(inputOf(run.server, 1).map((item) => item.type)).toEqual([
      'function_call_output',
      'function_call_output',
    ])
    expect(run.view.recall).toMatchObject({ searches: 1, delivered_before_first_edit: true })
  })
})

describe('a server with async tools (the stand-in)', () => {
  it.each([
    ['answers directly', '0'],
    ['works in the background', '1'],
  ])('repairs a project from resent conversations when it %s', async (_how, background) => {
    const folder = await mkdtemp(join(tmpdir(), 'astra-stand-in-'))
    cleanUp.push(() => rm(folder, { recursive: true, force: true }))
    const store = await openResponsesStore(folder, 100)
    const log = createLogger('offline-model', 'fatal')
    const server = createStandInServer({ store, log, now: () => new Date() })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUp.push(async () => {
      server.close()
      server.closeAllConnections()
    })
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/v1`
    const run = await fixThrough(url, 'resend', { ASTRA_BACKGROUND: background })
    expectRepair(run)
    expect(run.transcript).toContain('"async":true')
    expect(run.journal.background.size > 0).toBe(background === '1')
  })
})
