import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import {
  functionCall,
  message,
  type ScriptedModel,
  searchCall,
  startScriptedModel,
} from '../support/scripted-model.ts'

const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')

let folder: string
let model: ScriptedModel
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-background-'))
  await cp(template, folder, { recursive: true })
  const wait = functionCall('wait_for_tasks', { task_handles: ['memory'] })
  const search = searchCall()
  model = await startScriptedModel((body) => ({
    output: body.previous_response_id ? [message('Nothing.')] : [search, wait],
  }))
})
afterEach(async () => {
  await model.close()
  await rm(folder, { recursive: true, force: true })
})

async function runWith(env: Record<string, string>): Promise<{ astra: Astra; view: RunView }> {
  const astra = await createAstra({
    OPENAI_API_KEY: `sk-fake-${process.pid}`,
    OPENAI_BASE_URL: model.url,
    ...env,
  })
  const { stdout, stderr } = await astra.cli(['fix', folder, '--approve-live-cost', '--json'])
  if (!stdout.trim()) throw new Error(stderr)
  return { astra, view: JSON.parse(stdout) }
}

const crashed = (astra: Astra, point: string) => existsSync(join(astra.home, 'run/crashed', point))

describe('a request whose worker is killed while it is answered', () => {
  it('in the background is fetched by the next worker, and paid for once', async () => {
    const point = 'agent.background-journalled'
    const { astra, view } = await runWith({ ASTRA_BACKGROUND: '1', ASTRA_CRASH_AT: point })
    expect(crashed(astra, point)).toBe(true)
    expect(view).toMatchObject({ status: 'not_fixed', requests: 2 })
    expect(model.bodies).toHaveLength(2)
    expect(model.bodies.every((body) => body.background && body.store)).toBe(true)
    expect(model.looks).toBeGreaterThanOrEqual(4)
    expect(view.cost_usd).toBeCloseTo(2 * 0.015, 6)
    await astra.remove()
  })

  it('otherwise is sent again, and the lost attempt is charged in full', async () => {
    const point = 'agent.answer-received'
    const { astra, view } = await runWith({ ASTRA_CRASH_AT: point })
    expect(crashed(astra, point)).toBe(true)
    expect(view).toMatchObject({ status: 'not_fixed', requests: 3 })
    expect(model.bodies).toHaveLength(3)
    expect(view.cost_usd).toBeGreaterThan(2 * 0.015)
    await astra.remove()
  })

  it('is not sent again when its answer had been journalled', async () => {
    const point = 'agent.response-journalled'
    const { astra, view } = await runWith({ ASTRA_CRASH_AT: point })
    expect(crashed(astra, point)).toBe(true)
    expect(view).toMatchObject({ status: 'not_fixed', requests: 2 })
    expect(model.bodies).toHaveLength(2)
    await astra.remove()
  })
})
