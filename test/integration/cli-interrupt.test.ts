import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../shared/config.ts'
import { supervisorStatus } from '../../shared/supervisor-client.ts'
import { runAstra, startAstra } from '../support/cli.ts'

let home: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'astra-interrupt-')))
  const project = join(home, 'project')
  mkdirSync(project)
  writeFileSync(
    join(project, 'package.json'),
    '{"type": "module", "scripts": {"test": "node --test"}}',
  )
  // Its tests end only when they are ended: the run is certainly under way when Ctrl-C comes.
  writeFileSync(
    join(project, 'endless.test.js'),
    "import { test } from 'node:test'\ntest('endless', () => new Promise(() => setInterval(() => {}, 1000)))\n",
  )
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const nothingRuns = async () =>
  expect(await supervisorStatus(readConfig({ ASTRA_HOME: join(home, 'astra') }))).toBeNull()

it('stops following, stops the services, and says how to go on', async () => {
  const fix = startAstra(['fix', 'project', '--offline', '--run-id', 'mine'], { home })
  await fix.says('started')
  fix.kill('SIGINT')
  // npm and its start script pass the same Ctrl-C on once more.
  fix.kill('SIGINT')
  const { code, stdout, stderr } = await fix.result
  expect(stderr).toMatch(/astra: interrupted\n +run mine has not ended; `astra watch mine`/)
  expect(stdout).toBe('')
  expect(code).toBe(130)
  await nothingRuns()

  const cancelled = await runAstra(['cancel', 'mine', '--json'], { home })
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ run_id: 'mine', status: 'cancelled' })
  expect(cancelled.code).toBe(0)
  const watched = await runAstra(['watch', 'mine', '--json'], { home })
  expect(JSON.parse(watched.stdout)).toMatchObject({ status: 'cancelled', applied: false })
  expect(watched.code).toBe(7)
})

it('takes back a run that was not begun when Ctrl-C came while the services start', async () => {
  const fix = startAstra(['fix', 'project', '--offline', '--json'], { home })
  await fix.says('files of')
  fix.kill('SIGINT')
  const { code, stdout } = await fix.result
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'interrupted',
    hint: 'the run was not begun',
  })
  expect(code).toBe(130)
  expect(readdirSync(join(home, 'astra', 'runs'))).toEqual([])
  await nothingRuns()
})

it('ends `up` without a fault', async () => {
  const up = startAstra(['up'], { home })
  await up.says('Ctrl-C stops them')
  const listed = await runAstra(['runs', '--json'], { home })
  expect(JSON.parse(listed.stdout)).toEqual({ runs: [] })
  up.kill('SIGINT')
  const { code, stdout } = await up.result
  expect(stdout).toContain(join(home, 'astra', 'logs'))
  expect(code).toBe(0)
  await nothingRuns()
})

it('removes the folder of an interrupted demo', async () => {
  const temporary = join(home, 'tmp')
  mkdirSync(temporary)
  const demo = startAstra(['demo'], { home, env: { TMPDIR: temporary } })
  await demo.says('Session 1')
  demo.kill('SIGINT')
  expect((await demo.result).code).toBe(130)
  expect(readdirSync(temporary).filter((name) => name.startsWith('astra-'))).toEqual([])
  expect(existsSync(join(home, 'astra'))).toBe(false)
})
