import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'

let double: DoubleServer
let astra: Astra
let lease: Lease
let workspace: string

beforeAll(async () => {
  double = await startQdrantDouble()
  await double.stop()
  astra = await createAstra({ ASTRA_STORE: 'qdrant', ASTRA_QDRANT_URL: double.url })
  lease = await astra.hold()
  workspace = await mkdtemp(join(tmpdir(), 'astra-away-'))
  const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')
  await cp(template, workspace, { recursive: true })
})

afterAll(async () => {
  await lease?.release()
  await astra?.remove()
  await double?.stop()
  await rm(workspace, { recursive: true, force: true })
})

it('repairs without its memory, says so, and remembers the repair when the memory is back', async () => {
  const fixed = await astra.cli(['fix', workspace, '--offline', '--json'])
  expect(fixed).toMatchObject({ code: 0 })
  const view: RunView = JSON.parse(fixed.stdout)
  expect(view).toMatchObject({
    status: 'fixed',
    recall: { searches: 1, unavailable: 1, returned: [], delivered_before_first_edit: true },
    stored_memory_id: expect.any(String),
    store_waits: true,
  })
  const people = await astra.cli(['status', view.run_id])
  expect(people.stdout).toContain('returned nothing; unavailable for 1')
  const stores = `${view.stored_memory_id}, as soon as the memory is back`
  expect(people.stdout).toContain(stores)

  await double.start()
  const stored = async () =>
    JSON.parse((await astra.cli(['memory', 'list', '--json'])).stdout).records
  await expect.poll(stored).toMatchObject([{ memory_id: view.stored_memory_id, proved: true }])
})
