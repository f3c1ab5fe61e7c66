import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prepareRun } from '../../services/cli/fix-workspace.ts'
import { startRun } from '../../services/cli/follow-run.ts'
import { DEFAULT_PROMPT, limitsOf } from '../../services/cli/run-options.ts'
import type { RunPriority } from '../../shared/contracts/run.ts'
import { readRunView } from '../../shared/contracts/run-view.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, type Producer } from '../../shared/queue/producer.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import { type LingeringTests, listenToTests } from '../support/lingering-tests.ts'

let folder: string
let astra: Astra
let lease: Lease
let tests: LingeringTests
let redis: Redis
let producer: Producer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-fair-'))
  tests = await listenToTests(folder)
  astra = await createAstra({ ASTRA_TEST_CONCURRENCY: '1' })
  lease = await astra.hold()
  redis = connectOrFail(astra.config.redis)
  producer = createProducer(redis)
})
afterAll(async () => {
  await producer.close()
  redis.disconnect()
  // First the tests, which linger: the services would wait for them.
  await tests.close()
  await lease.release()
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

async function workspaceOf(name: string): Promise<string> {
  const workspace = join(folder, name)
  await mkdir(workspace)
  await symlink(tests.nodeModules, join(workspace, 'node_modules'))
  for (const [path, text] of Object.entries(tests.project(name))) {
    await writeFile(join(workspace, path), text)
  }
  return workspace
}

/** As `astra enqueue` does. */
async function enqueue(workspace: string, runId: string, priority: RunPriority = 'normal') {
  const { request } = await prepareRun(astra.config, astra.env, {
    run_id: runId,
    workspace,
    prompt: DEFAULT_PROMPT,
    mode: 'offline',
    recall: 'tool',
    priority,
    approve_live_cost: false,
    command: null,
    limits: limitsOf({}, astra.config),
  })
  await startRun(producer, request)
}

it('gives a repository its turn among 20 runs of another, and lets an urgent run pass all', async () => {
  const [busy, other] = [await workspaceOf('busy'), await workspaceOf('other')]
  for (let n = 1; n <= 20; n += 1) await enqueue(busy, `busy-${n}`)
  const waiting = () => producer.queue('tests').getJobCountByTypes('prioritized')
  const first = await tests.begun(1)
  // One test-runner with room for one: all other baselines wait behind this test.
  await expect.poll(waiting).toBe(19)
  await enqueue(other, 'other-1')
  await expect.poll(waiting).toBe(20)
  first.release()
  const order: string[] = []
  while (order.at(-1) !== 'other') {
    const { name, release } = await tests.begun(order.length + 2)
    order.push(name)
    if (name !== 'other') release()
  }
  expect(order.length).toBeLessThanOrEqual(2)

  await enqueue(busy, 'busy-urgent', 'high')
  await expect.poll(waiting).toBe(20 - order.length + 1)
  const running = await tests.begun(1, 'other')
  running.release()
  const urgent = await tests.begun(order.length + 2)
  urgent.release()
  const statusOf = async (runId: string) => (await readRunView(redis, runId))?.status
  await expect.poll(() => statusOf('busy-urgent')).toBe('nothing_to_fix')
  expect(await statusOf('other-1')).toBe('nothing_to_fix')
  expect(await statusOf('busy-20')).toBe('running')
})
