import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { jobIdOf } from '../../shared/contracts/ids.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { runFiles } from '../../shared/run-files.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'

const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')
const POINTS = ['agent.end-journalled', 'agent.outcome-added', 'memory.outcome-counted']

let astra: Astra
let folder: string
let lease: Lease
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-lifecycle-'))
  astra = await createAstra({ ASTRA_CRASH_AT: POINTS.join(',') })
  lease = await astra.hold()
})
afterAll(async () => {
  await lease?.release()
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

async function json(args: string[], code = 0) {
  const result = await astra.cli([...args, '--json'])
  expect(result.code, result.stderr + result.stdout).toBe(code)
  return JSON.parse(result.stdout)
}

/** A run of the stand-in on a folder of its own, which is a repository of its own. */
async function fix(runId: string) {
  const workspace = join(folder, runId)
  await cp(template, workspace, { recursive: true })
  return json(['fix', workspace, '--offline', '--run-id', runId])
}

/** The same fault again in the folder of the first run, whose file has another name by now. */
async function breakAgain(): Promise<string> {
  const workspace = join(folder, 'first')
  await cp(template, workspace, { recursive: true })
  await rename(join(workspace, 'src/settings.ts'), join(workspace, 'src/options.ts'))
  for (const path of ['src/server.ts', 'test/catalog.test.ts'].map((each) =>
    join(workspace, each),
  )) {
    const source = await readFile(path, 'utf8')
    await writeFile(path, source.replace('/settings.ts', '/options.ts'))
  }
  return workspace
}

/** Waits until the memory has noted how the run ended. */
async function outcomeNoted(runId: string): Promise<void> {
  const redis = connectOrFail(astra.config.redis)
  const producer = createProducer(redis)
  try {
    const state = () => producer.queue('memory').getJobState(jobIdOf('note-outcome', runId))
    await expect.poll(state).toBe('completed')
  } finally {
    await producer.close()
    redis.disconnect()
  }
}

let first: string
it('counts a fix that followed from a record once, though every process of it dies at that', async () => {
  first = (await fix('first')).stored_memory_id
  const run = await fix('second')
  expect(run).toMatchObject({ status: 'fixed', recall: { returned: [{ memory_id: first }] } })
  await outcomeNoted('second')
  for (const point of POINTS) expect(existsSync(join(astra.home, 'run/crashed', point))).toBe(true)
  const record = await json(['memory', 'show', first])
  expect(record).toMatchObject({ shown: 1, confirmed: 1, unconfirmed: 0, expired: false })
})

it('answers no revoked record, still lists and shows it with a mark, and restores it', async () => {
  const symptom = (await json(['memory', 'show', first])).symptom
  const found = async () => {
    const { matches } = await json(['memory', 'search', symptom])
    return matches.map((match: { memory_id: string }) => match.memory_id)
  }
  expect(await found()).toContain(first)
  expect(await json(['memory', 'revoke', first])).toEqual({
    memory_id: first,
    found: 1,
    changed: 1,
    stands_for: [],
  })
  expect(await json(['memory', 'revoke', first])).toMatchObject({ found: 1, changed: 0 })
  expect(await found()).not.toContain(first)
  expect(await json(['memory', 'list', '--session', 'first'])).toMatchObject({
    records: [{ memory_id: first, revoked_at: expect.any(String) }],
  })
  const list = (await astra.cli(['memory', 'list'])).stdout
  expect(list).toMatch(new RegExp(`${first} .* proved +revoked `))
  expect((await astra.cli(['memory', 'show', first])).stdout).toMatch(/^state +revoked$/m)
  expect(await json(['memory', 'restore', first])).toMatchObject({ changed: 1, superseded: [] })
  expect(await found()).toContain(first)
})

it('revokes and restores all records of a session and of a repository', async () => {
  const { repository_id } = await json(['memory', 'show', first])
  for (const selector of [
    ['--session', 'first'],
    ['--repository', repository_id],
  ]) {
    const revoked = await astra.cli(['memory', 'revoke', ...selector])
    expect(revoked.stdout).toContain('revoked 1 record\n')
    const again = await astra.cli(['memory', 'revoke', ...selector])
    expect(again).toMatchObject({ code: 0, stdout: 'nothing to do: 1 record is revoked already\n' })
    expect((await json(['memory', 'show', first])).revoked_at).not.toBeNull()
    const restored = await astra.cli(['memory', 'restore', ...selector])
    expect(restored.stdout).toContain('restored 1 record\n')
  }
})

it('lets a record be superseded by another, and says so, and not after --undo', async () => {
  const { records } = await json(['memory', 'list', '--session', 'second'])
  const second = records[0].memory_id
  expect(await json(['memory', 'supersede', first, second])).toMatchObject({ changed: true })
  expect((await astra.cli(['memory', 'show', first])).stdout).toMatch(/^state +superseded$/m)
  expect((await json(['memory', 'restore', first])).superseded).toEqual([first])
  const circle = await astra.cli(['memory', 'supersede', second, first])
  expect(circle).toMatchObject({ code: 2, stderr: expect.stringContaining('take that back first') })
  const undone = await json(['memory', 'supersede', first, '--undo'])
  expect(undone).toEqual({ memory_id: first, by: null, changed: true })
})

it('tells the model, and a person who asks there, that the place of its own fix is gone, and merges what comes of it', async () => {
  const workspace = await breakAgain()
  const { symptom } = await json(['memory', 'show', first])
  const search = ['memory', 'search', symptom]
  const mark = 'stale: src/settings.ts is not in this project any more'
  expect((await astra.cli(search, { cwd: workspace })).stdout).toContain(mark)
  expect((await astra.cli(search, { cwd: join(folder, 'second') })).stdout).not.toContain('stale:')
  const run = await json(['fix', workspace, '--offline', '--run-id', 'third'])
  expect(run).toMatchObject({ status: 'fixed' })
  const transcript = await readFile(runFiles(astra.home, 'third').transcript, 'utf8')
  expect(transcript).toContain('Stale: src/settings.ts is not in this project any more')
  expect(await json(['memory', 'show', run.stored_memory_id])).toMatchObject({ merged: [first] })
  expect((await json(['memory', 'show', first])).superseded_by).toBe(run.stored_memory_id)
  const removed = await json(['memory', 'delete', run.stored_memory_id])
  expect(removed.brought_back).toEqual([first])
})

it.each([
  [['revoke'], 'give one of'],
  [['revoke', 'an-id', '--session', 'first'], 'give one of'],
  [['restore', '--session', 'a', '--repository', 'b'], 'give one of'],
  [['revoke', '--session', ''], 'give one of'],
  [['revoke', 'no-such-id'], 'there is no memory no-such-id'],
  [['restore', '--session', 'nobody'], 'there is no record of session nobody'],
  [['revoke', '--repository', 'nowhere'], 'there is no record of repository nowhere'],
  [['supersede', 'an-id'], 'give the id of the new memory, or --undo'],
  [['supersede', 'an-id', 'another', '--undo'], 'give the id of the new memory, or --undo'],
  [['supersede', 'no-such-id', '--undo'], 'there is no memory no-such-id'],
])('refuses %j and says what to do', async (args, message) => {
  const { code, stderr, stdout } = await astra.cli(['memory', ...args])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(message)
})
