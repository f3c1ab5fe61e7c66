import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { supervisorStatus } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'

const templates = join(productRoot, 'demo_projects/templates/typescript')

let astra: Astra
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-cli-'))
  astra = await createAstra()
})
afterAll(async () => {
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

async function workspaceOf(scenario: string): Promise<string> {
  const workspace = await mkdtemp(join(folder, `${scenario}-`))
  await cp(join(templates, scenario), workspace, { recursive: true })
  return workspace
}

/** The JSON of a command that must succeed with that exit code. */
async function json(args: string[], code = 0) {
  const result = await astra.cli([...args, '--json'])
  expect(result.code, result.stderr + result.stdout).toBe(code)
  return JSON.parse(result.stdout)
}

describe('without services that are up already', () => {
  it('two fixes at once share one supervisor, and nothing is left behind', async () => {
    const [one, two] = await Promise.all(['scenario_alpha', 'scenario_beta'].map(workspaceOf))
    const runs = await Promise.all([
      json(['fix', one ?? '', '--offline']),
      json(['fix', two ?? '', '--offline']),
    ])
    expect(runs.map((run) => run.status)).toEqual(['fixed', 'fixed'])
    expect(await supervisorStatus(astra.config)).toBeNull()
  })

  it('a smoke record persists over a restart of all services and is deleted by the check', async () => {
    const { memory_id } = await json(['smoke', 'store'])
    expect(await supervisorStatus(astra.config)).toBeNull()
    expect(await json(['smoke', 'verify', '--memory-id', memory_id])).toMatchObject({
      persisted: true,
      deleted: true,
    })
    const again = await json(['smoke', 'verify', '--memory-id', memory_id], 1)
    expect(again.error.message).toContain('did not persist')
  })

  it('an enqueued run waits until services are up, and its patch is applied on request', async () => {
    const workspace = await workspaceOf('scenario_gamma')
    const before = await readFile(join(workspace, 'src/regions.ts'), 'utf8')
    const { run_id } = await json(['enqueue', workspace, '--offline', '--recall', 'prefetch'])
    const view = await json(['watch', run_id])
    expect(view).toMatchObject({ status: 'fixed', recall: { mode: 'prefetch' } })
    expect(view.recall.searches).toBeGreaterThanOrEqual(1)
    expect(view.recall.delivered_before_first_edit).toBe(true)
    expect(await readFile(join(workspace, 'src/regions.ts'), 'utf8')).toBe(before)
    expect(await json(['apply', run_id])).toMatchObject({ applied: true })
    expect(await readFile(join(workspace, 'src/regions.ts'), 'utf8')).not.toBe(before)
  })
})

describe('while services are up', () => {
  let lease: Lease
  beforeAll(async () => {
    lease = await astra.hold()
  })
  afterAll(() => lease.release())

  it('memory lists, shows, finds and deletes what runs have stored', async () => {
    const { records, total } = await json(['memory', 'list'])
    expect(total).toBe(3)
    const [{ memory_id, proved }] = records
    expect(proved).toBe(true)
    const record = await json(['memory', 'show', memory_id])
    expect(record).toMatchObject({ memory_id, outcome: 'node passed with exit code 0' })
    expect(record.receipt.body.targets).toEqual(record.failing_tests)
    expect(record.unproved).toBeNull()
    expect(record.receipt.body.targets.length).toBeGreaterThan(0)
    expect(record.diff).toContain('--- a/')
    const { matches } = await json(['memory', 'search', record.symptom])
    expect(matches[0]).toMatchObject({ memory_id, proved: true })
    expect(await json(['memory', 'delete', memory_id])).toMatchObject({ deleted: true })
    expect((await json(['memory', 'list'])).total).toBe(2)
    await json(['memory', 'show', memory_id], 2)
  })

  it('memory verify ends with 0 while all is proved, and with 3 once a key is distrusted', async () => {
    const proved = { checked: 2, proved: 2, unproved: {}, records: [] }
    expect(await json(['memory', 'verify'])).toEqual(proved)
    const { previous } = await json(['keys', 'rotate'])
    expect(await json(['memory', 'verify'])).toEqual(proved)
    await json(['keys', 'distrust', previous])
    const after = await json(['memory', 'verify', '--limit', '1'], 3)
    expect(after).toMatchObject({ checked: 2, proved: 0, unproved: { untrusted_key: 2 } })
    const [{ memory_id, session_id }] = after.records
    const { stdout } = await astra.cli(['memory', 'verify', '--limit', '1'])
    expect(stdout).toMatch(new RegExp(`^${memory_id}  ${session_id}  .*not trusted here$`, 'm'))
    expect(stdout).toContain('0 of 2 records are proved')
    const shown = await astra.cli(['memory', 'show', memory_id])
    expect(shown.stdout).toMatch(/^proof +none, unproved: .*not trusted here$/m)
    expect((await astra.cli(['memory', 'list'])).stdout.match(/ unproved /g)).toHaveLength(2)
  })

  it('a run id that exists is refused, and the run that has it is not touched', async () => {
    const workspace = await workspaceOf('scenario_alpha')
    await json(['fix', workspace, '--offline', '--run-id', 'taken'])
    const { error } = await json(['fix', workspace, '--offline', '--run-id', 'taken'], 2)
    expect(error.message).toContain('taken')
    expect(await json(['status', 'taken'])).toMatchObject({ status: 'fixed' })
  })

  it('a fix is not applied when the workspace changed meanwhile, and says so', async () => {
    const workspace = await workspaceOf('scenario_alpha')
    const run = await json(['fix', workspace, '--offline', '--no-apply'])
    expect(run).toMatchObject({ status: 'fixed', applied: false })
    const file = join(workspace, 'src/settings.ts')
    const changed = `${await readFile(file, 'utf8')}// mine\n`
    await writeFile(file, changed)
    const { error } = await json(['apply', run.run_id], 1)
    expect(error.message).toContain('src/settings.ts')
    expect(await readFile(file, 'utf8')).toBe(changed)
  })

  it('a cancelled run ends as cancelled, and its workspace stays as it was', async () => {
    const workspace = await mkdtemp(join(folder, 'endless-'))
    const endless =
      "import test from 'node:test'\ntest('a', () => new Promise(() => setInterval(() => {}, 1000)))\n"
    await writeFile(join(workspace, 'a.test.mjs'), endless)
    const { run_id } = await json(['enqueue', workspace, '--offline'])
    const ended = { run_id, status: 'cancelled', reason: 'cancelled_by_user' }
    expect(await json(['cancel', run_id])).toEqual({ ...ended, ended_before: false })
    expect(await json(['cancel', run_id])).toEqual({ ...ended, ended_before: true })
    const { error } = await json(['cancel', 'no-such-run'], 2)
    expect(error.message).toContain('there is no run no-such-run')
    const view = await json(['watch', run_id], 7)
    expect(view).toMatchObject({ status: 'cancelled', reason: 'cancelled_by_user' })
    const { runs } = await json(['runs'])
    expect(runs.map((each: { run_id: string }) => each.run_id)).toContain(run_id)
  })

  it('a live run without a key is refused and told what the stand-in can and cannot do', async () => {
    const workspace = await workspaceOf('scenario_beta')
    const result = await astra.cli(['fix', workspace, '--approve-live-cost'])
    expect(result.code).toBe(6)
    expect(result.stdout + result.stderr).toContain('--offline')
    expect(result.stdout + result.stderr).toContain('not Astra')
  })

  it('doctor finds nothing to fail', async () => {
    const { code, stdout } = await astra.cli(['doctor'])
    expect(code, stdout).toBe(0)
  })
})
