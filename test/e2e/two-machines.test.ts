import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { DEMO_REPAIRS } from '../support/demo-repairs.ts'
import type { ServiceProcess } from '../support/service-process.ts'
import { hasVenv } from '../support/test-runner.ts'
import { type Machine, type Machines, noMachines, startMachines } from '../support/two-machines.ts'

const templates = join(productRoot, 'demo_projects/templates')
const NODE = 'typescript/scenario_alpha'
const PYTHON = 'more/notes_archive'
const missing = noMachines()

/** `desk` has the CLI and nothing else; the fleet is `left` and `right`, and `spare` for one test. No folder is shared. */
let machines: Machines
let desk: Machine
let left: Machine
let right: Machine
let spare: Machine
let shared: string
let leftAgent: ServiceProcess
let model: Record<string, string>

beforeAll(async () => {
  if (missing) return
  machines = await startMachines(['left', 'right', 'desk', 'spare'])
  desk = machines.of('desk')
  left = machines.of('left')
  right = machines.of('right')
  spare = machines.of('spare')
  shared = await mkdtemp(join(tmpdir(), 'astra-shared-'))
  const { announced } = await left.start('offline-model', { OFFLINE_MODEL_HOST: left.address })
  model = { OFFLINE_MODEL_URL: String(announced.offline_model_url) }
  await left.start('memory-store')
  await left.start('embedder')
  leftAgent = await left.start('agent-runner', model)
  await right.start('test-runner')
  await trust(right, left)
})
afterAll(async () => {
  await machines?.remove()
  if (shared) await rm(shared, { recursive: true, force: true })
})

/** The memory believes the test-runner of another machine. */
async function trust(signer: Machine, memory: Machine): Promise<void> {
  const { stdout } = await ok(signer.astra(['keys', 'export']))
  await writeFile(join(memory.folder, 'key.pem'), stdout)
  await ok(memory.astra(['keys', 'trust', join(memory.folder, 'key.pem')]))
}

async function ok(command: ReturnType<Machine['astra']>) {
  const ran = await command
  expect(ran.code, ran.stderr + ran.stdout).toBe(0)
  return ran
}

async function json(machine: Machine, args: string[], code = 0, env: Record<string, string> = {}) {
  const ran = await machine.astra([...args, '--json'], env)
  expect(ran.code, ran.stderr + ran.stdout).toBe(code)
  return JSON.parse(ran.stdout)
}

async function write(root: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

/** A project that needs an installed package, and one of its own by a link that npm would make. */
async function nodeProject(name: string, ballast = 0): Promise<string> {
  const root = join(desk.folder, name)
  await cp(join(templates, NODE), root, { recursive: true })
  const packageJson = (own: string) =>
    JSON.stringify({ name: own, type: 'module', exports: './index.js' })
  await write(root, {
    '.gitignore': 'node_modules\n',
    'packages/rates/package.json': packageJson('@shop/rates'),
    'packages/rates/index.js': 'export const rates = { percent: 19 }\n',
    'node_modules/left-pad/package.json': packageJson('left-pad'),
    'node_modules/left-pad/index.js': 'export const pad = (text) => text.padStart(4)\n',
    'node_modules/left-pad/ballast.bin': 'x'.repeat(ballast),
    'test/installed.test.ts':
      "import assert from 'node:assert/strict'\nimport test from 'node:test'\n" +
      "// @ts-ignore\nimport { rates } from '@shop/rates'\n// @ts-ignore\nimport { pad } from 'left-pad'\n" +
      "test('what is installed is there', () => assert.equal(pad(String(rates.percent)), '  19'))\n",
  })
  await mkdir(join(root, 'node_modules/@shop'))
  await symlink('../../packages/rates', join(root, 'node_modules/@shop/rates'))
  return root
}

/** A project with a virtual environment, in which one module is installed. */
async function pythonProject(name: string): Promise<string> {
  const root = join(desk.folder, name)
  await cp(join(templates, PYTHON), root, { recursive: true })
  const made = spawnSync('python3', ['-m', 'venv', '--without-pip', join(root, '.venv')])
  expect(made.status, made.stderr?.toString()).toBe(0)
  const [library = ''] = await readdir(join(root, '.venv/lib'))
  await write(root, {
    '.gitignore': '.venv\n',
    [`.venv/lib/${library}/site-packages/installed_rules.py`]: 'LIMIT = 7\n',
    'tests/test_installed.py':
      'import unittest\n\nfrom installed_rules import LIMIT\n\n\n' +
      'class InstalledTest(unittest.TestCase):\n' +
      '    def test_is_there(self):\n        self.assertEqual(LIMIT, 7)\n',
  })
  return root
}

const isMended = async (workspace: string, scenario: string) => {
  const { file = '' } = DEMO_REPAIRS[scenario] ?? {}
  const before = await readFile(join(templates, scenario, file), 'utf8')
  return (await readFile(join(workspace, file), 'utf8')) !== before
}

describe.skipIf(missing)(`two machines and a desk (needs ${missing ?? 'nothing more'})`, () => {
  it('fix a project with installed packages, prove it, remember it, and the desk applies it', async () => {
    const workspace = await nodeProject('shop')
    expect([desk, left, right].map((machine) => machine.sees(workspace))).toEqual([
      true,
      false,
      false,
    ])
    expect([desk, left, right].map((machine) => machine.sees(right.home))).toEqual([
      false,
      false,
      true,
    ])
    const run = await json(desk, ['fix', workspace, '--offline', '--run-id', 'node-run'])
    expect(run).toMatchObject({ status: 'fixed', applied: true })
    expect(run.verification.failing_before).toHaveLength(2)
    expect(run.stored_memory_id).not.toBeNull()
    expect(await isMended(workspace, NODE)).toBe(true)
    // The machines saw no folder of each other, and nobody but the fleet did the work.
    expect(existsSync(join(desk.home, 'run/supervisor.lock'))).toBe(false)
    expect(existsSync(join(left.home, 'runs/node-run/base'))).toBe(false)
    expect(await readdir(join(right.home, 'arrived'))).toHaveLength(2)
    const record = await json(desk, ['memory', 'show', run.stored_memory_id])
    expect(record.unproved).toBeNull()
  })

  it('show, prove again and apply a run on a machine that has nothing of it', async () => {
    expect(await json(left, ['status', 'node-run'])).toMatchObject({ status: 'fixed' })
    const again = await json(left, ['verify', 'node-run'])
    expect(again).toMatchObject({ confirmed: true, receipt: { body: { sandboxed: true } } })
    const { error } = await json(left, ['apply', 'node-run'], 2)
    expect(error.message).toMatch(/^there is no folder .*shop on this machine$/)
    const copy = join(left.folder, 'shop')
    await cp(join(templates, NODE), copy, { recursive: true })
    const applied = await json(left, ['apply', 'node-run', copy])
    expect(applied).toMatchObject({ applied: true })
    expect(await isMended(copy, NODE)).toBe(true)
  })

  it('prove a patch of a workspace that only the desk has', async () => {
    const { patch } = await json(desk, ['status', 'node-run'])
    const workspace = await nodeProject('patched')
    await writeFile(join(desk.folder, 'fix.patch'), patch)
    const verified = ['verify', '--patch', join(desk.folder, 'fix.patch'), workspace]
    expect(await json(desk, verified)).toMatchObject({ confirmed: true })
    const wrong = patch.replace(/^\+(?!\+\+).*$/m, '+// nothing is mended')
    await writeFile(join(desk.folder, 'fix.patch'), wrong)
    expect(await json(desk, verified, 3)).toMatchObject({ confirmed: false })
  })

  it.skipIf(!hasVenv)(
    'fix a project with a virtual environment (needs python3 with venv)',
    async () => {
      const workspace = await pythonProject('podcasts')
      const run = await json(desk, ['fix', workspace, '--offline'])
      expect(run).toMatchObject({ status: 'fixed', applied: true })
      expect(run.verification.outcome).toBe('unittest passed with exit code 0')
      expect(await isMended(workspace, PYTHON)).toBe(true)
    },
  )

  it('say which folder was too large to travel, and what to set', async () => {
    const workspace = await nodeProject('large', 1_500_000)
    const env = { ASTRA_SNAPSHOT_REDIS_MB: '1' }
    const run = await json(desk, ['fix', workspace, '--offline'], 8, env)
    expect(run).toMatchObject({ status: 'failed', reason: 'dependencies_missing' })
    expect(run.message).toContain(join(workspace, 'node_modules'))
    expect(run.message).toContain('ASTRA_SHARED_DIR')
    expect(run.message).toContain('1.5 MB')
    await writeFile(join(workspace, 'data.txt'), 'x'.repeat(1_100_000))
    const { error } = await json(desk, ['fix', workspace, '--offline'], 1, env)
    expect(error.message).toMatch(/the workspace .* has 1\.1 MB/)
    expect(error.hint).toContain('ASTRA_SHARED_DIR')
  })

  it('send what is too large for Redis through the shared folder', async () => {
    const env = { ASTRA_SNAPSHOT_REDIS_MB: '1', ASTRA_SHARED_DIR: shared }
    await right.die()
    await right.start('test-runner', env)
    const workspace = await nodeProject('larger', 1_500_000)
    const run = await json(desk, ['fix', workspace, '--offline'], 0, env)
    expect(run).toMatchObject({ status: 'fixed', applied: true })
    expect((await readdir(join(shared, 'blobs'))).length).toBeGreaterThan(0)
  })

  it('go on with a run whose machine vanished, from the edits that it had made', async () => {
    await leftAgent.end('SIGTERM')
    const env = { ...model, ASTRA_CRASH_AT: 'agent.edit-journalled' }
    const dying = await spare.start('agent-runner', env)
    const workspace = await nodeProject('taken-over')
    const { run_id } = await json(desk, ['enqueue', workspace, '--offline'])
    expect(await dying.ended).toBe('SIGKILL')
    const edits = await readdir(join(spare.home, 'runs', run_id, 'objects'))
    expect(edits.length).toBeGreaterThan(0)
    await spare.vanish()
    await right.start('agent-runner', model)
    expect(await json(desk, ['watch', run_id])).toMatchObject({ status: 'fixed' })
    expect(await readdir(join(right.home, 'runs', run_id))).toContain('transcript.jsonl')
    await json(desk, ['apply', run_id])
    expect(await isMended(workspace, NODE)).toBe(true)
  })
})
