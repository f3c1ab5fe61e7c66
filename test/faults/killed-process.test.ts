import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { supervisorStatus } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'

const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')

let astra: Astra
let folder: string
beforeEach(async () => {
  astra = await createAstra()
  folder = await mkdtemp(join(tmpdir(), 'astra-killed-'))
})
afterEach(async () => {
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

/** Kills a process of the installation by its name; `supervisor` is the supervisor itself. */
async function kill(name: string): Promise<void> {
  const status = await supervisorStatus(astra.config)
  const pid =
    name === 'supervisor' ? status?.pid : status?.processes.find((each) => each.name === name)?.pid
  if (!pid) throw new Error(`no process ${name}`)
  process.kill(pid, 'SIGKILL')
}

/** Runs `fix` and kills `victim` when the first progress line that matches `moment` is printed. */
async function fixAndKill(victim: string, moment: RegExp): Promise<RunView> {
  const workspace = join(folder, 'workspace')
  await cp(template, workspace, { recursive: true })
  const cli = join(productRoot, 'services/cli/main.ts')
  const child = spawn(
    process.execPath,
    [cli, 'fix', workspace, '--offline', '--run-id', 'killed'],
    {
      env: astra.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const lines: string[] = []
  let killing: Promise<void> | undefined
  const reader = createInterface({ input: child.stderr })
  reader.on('line', (line) => {
    lines.push(line)
    if (!killing && moment.test(line)) killing = kill(victim)
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (!killing) throw new Error(`the moment never came:\n${lines.join('\n')}`)
  await killing
  expect(code, lines.join('\n')).toBe(0)
  const { stdout } = await astra.cli(['status', 'killed', '--json'])
  return JSON.parse(stdout)
}

/** What every run must have come to, whatever was killed. */
async function expectOneProvedFix(view: RunView): Promise<void> {
  expect(view.status).toBe('fixed')
  expect(view.verification?.outcome).toBe('node passed with exit code 0')
  const source = await readFile(join(folder, 'workspace/src/settings.ts'), 'utf8')
  expect(source.match(/\.trim\(\)/g)).toHaveLength(1)
  const { stdout } = await astra.cli(['memory', 'list', '--json'])
  const { records } = JSON.parse(stdout)
  expect(records.map((each: { memory_id: string }) => each.memory_id)).toEqual([
    view.stored_memory_id,
  ])
}

describe('a run whose process is killed with kill -9', () => {
  it.each([
    ['agent-runner', /request 2/],
    ['agent-runner', /run_tests/],
    ['test-runner', /run_tests/],
    ['memory-store', /store_fix_memory/],
    ['embedder', /search_codebase_memory/],
    ['offline-model', /request 3/],
    ['redis', /run_tests/],
    ['supervisor', /run_tests/],
  ])('%s at %s goes on and ends with one proved, stored fix', async (victim, moment) => {
    await expectOneProvedFix(await fixAndKill(victim, moment))
  })
})
