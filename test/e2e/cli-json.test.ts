import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createContext } from '../../services/cli/context.ts'
import { pathOf } from '../../services/cli/manual/format-help.ts'
import { pages } from '../../services/cli/manual/pages.ts'
import { createProgram } from '../../services/cli/program.ts'
import { productRoot } from '../../shared/config.ts'
import { type CliProcess, runAstra, startAstra } from '../support/cli.ts'

/** All of it is one walk through an installation, on a machine that may have other things to do. */
const WALK_MS = 900_000

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-json-'))
  for (const scenario of ['scenario_alpha', 'scenario_beta']) {
    const template = join(productRoot, 'demo_projects/templates/typescript', scenario)
    await cp(template, join(home, scenario), { recursive: true })
  }
})
afterAll(() => rm(home, { recursive: true, force: true }))

function leaves(command: Command): string[] {
  if (command.commands.length > 0) return command.commands.flatMap(leaves)
  return [pathOf(command).join(' ')]
}

/** Whose JSON goes to a file, or that have none: their own tests are elsewhere. */
const elsewhere = ['completion', 'help', 'demo', 'experiment']
const walked = new Set<string>()

function note(args: readonly string[]): string {
  const program = createProgram(createContext({}, '/', new AbortController().signal))
  const found = leaves(program).find((each) => `${args.join(' ')} `.startsWith(`${each} `))
  const name = found ?? args.join(' ')
  walked.add(name)
  return name
}

/** The names that the manual gives for what a command prints. */
function namesOf(command: string): string[] {
  return [...(pages[command]?.json ?? '').matchAll(/`([a-z_]+)`/g)].map(([, name]) => name ?? '')
}

/** The one document that a command prints. */
async function json(args: string[], code = 0) {
  const command = note(args)
  const result = await runAstra([...args, '--json'], { home })
  expect(result.code, `${args.join(' ')}: ${result.stdout}${result.stderr}`).toBe(code)
  for (const name of namesOf(command))
    expect.soft(result.stdout, `${command}: ${name}`).toContain(`"${name}"`)
  return JSON.parse(result.stdout)
}

/** What one that goes on until Ctrl-C prints. */
function start(args: string[]): CliProcess {
  note(args)
  return startAstra([...args, '--json'], { home })
}

async function stop(running: CliProcess): Promise<string> {
  running.kill('SIGINT')
  const { code, stdout } = await running.result
  expect(code).toBe(0)
  return stdout
}

describe('--json', () => {
  it('makes every command print one document and nothing else', { timeout: WALK_MS }, async () => {
    const up = start(['up'])
    await up.says('"processes"')
    const following = start(['logs', '--follow'])

    expect(await json(['init', 'scenario_alpha'])).toMatchObject({ commands: ['node --test'] })
    const runOne = ['--offline', '--run-id', 'run-one']
    expect(await json(['enqueue', 'scenario_alpha', ...runOne])).toMatchObject({ status: 'queued' })
    expect(await json(['watch', 'run-one'])).toMatchObject({ status: 'fixed', applied: false })
    expect(await json(['status', 'run-one'])).toMatchObject({ run_id: 'run-one' })
    expect(await json(['apply', 'run-one'])).toMatchObject({ applied: true })
    const two = await json(['fix', 'scenario_beta', '--offline', '--run-id', 'run-two'])
    expect(two).toMatchObject({ status: 'fixed', applied: true })
    expect(await json(['cancel', 'run-two'])).toMatchObject({ ended_before: true })
    expect(await json(['verify', 'run-two'])).toMatchObject({ confirmed: true })
    expect((await json(['runs'])).runs).toHaveLength(2)
    expect(await json(['cost', '--run', 'run-one'])).toMatchObject({ run: 'run-one' })

    await memoryCommands()
    await keyCommands()

    await chmod(join(home, 'astra'), 0o755)
    const repairs = [{ check: 'data folder', done: true }]
    expect(await json(['doctor', '--fix'])).toMatchObject({ healthy: true, repairs })
    const { lines } = await json(['logs', '--run', 'run-one', '--level', 'debug'])
    const processes = new Set(lines.map((line: { process: string }) => line.process))
    expect(processes).toEqual(new Set(['agent-runner', 'test-runner']))
    const followed = (await stop(following))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(followed.map((line) => line.run_id)).toContain('run-two')

    expect(await json(['backup', 'all.backup'])).toMatchObject({ file: join(home, 'all.backup') })
    const dashboard = start(['dashboard', '--port', '0'])
    await dashboard.says('"token_file"')
    expect(JSON.parse(await stop(dashboard))).toMatchObject({ login: expect.any(String) })
    expect(JSON.parse(await stop(up))).toMatchObject({ processes: expect.any(Array) })
    const restored = await json(['restore', 'all.backup', '--force'])
    expect(restored).toMatchObject({ file: join(home, 'all.backup') })

    const all = leaves(createProgram(createContext({}, '/', new AbortController().signal)))
    expect([...walked, ...elsewhere].sort()).toEqual(all.sort())
  })
})

async function memoryCommands(): Promise<void> {
  const { records } = await json(['memory', 'list'])
  const [newest, oldest] = records.map(({ memory_id }: { memory_id: string }) => memory_id)
  const { memory_id: shown, symptom_raw: symptom } = await json(['memory', 'show', newest])
  expect(shown).toBe(newest)
  expect((await json(['memory', 'search', symptom])).matches).not.toEqual([])
  expect(await json(['memory', 'verify'])).toMatchObject({ checked: 2, proved: 2 })
  expect(await json(['memory', 'supersede', oldest, newest])).toMatchObject({ changed: true })
  expect(await json(['memory', 'supersede', oldest, '--undo'])).toMatchObject({ changed: true })
  expect(await json(['memory', 'revoke', newest])).toMatchObject({ changed: 1 })
  expect(await json(['memory', 'restore', newest])).toMatchObject({ changed: 1 })
  expect(await json(['memory', 'export', 'all.jsonl'])).toMatchObject({ exported: 2 })
  expect(await json(['memory', 'delete', newest])).toMatchObject({ deleted: true })
  expect(await json(['memory', 'import', 'all.jsonl'])).toMatchObject({ imported: 1, present: 1 })
  const { memory_id } = await json(['smoke', 'store'])
  expect(await json(['smoke', 'verify', '--memory-id', memory_id])).toMatchObject({ deleted: true })
}

async function keyCommands(): Promise<void> {
  const { signing } = await json(['keys', 'list'])
  const { public_key } = await json(['keys', 'export'])
  await writeFile(join(home, 'old.pem'), public_key)
  expect(await json(['keys', 'rotate'])).toMatchObject({ previous: signing })
  expect(await json(['keys', 'distrust', signing])).toMatchObject({ distrusted: true })
  expect(await json(['keys', 'trust', 'old.pem'])).toMatchObject({ key_id: signing, added: true })
}

it.each([
  ['an unknown command', ['fixx'], "unknown command 'fixx'"],
  ['a wrong option', ['logs', '--level', 'loud'], 'Allowed choices are'],
  ['a log that is not there', ['logs', 'embeder'], 'there is no log of embeder'],
])('--json tells %s as JSON too', async (_title, args, message) => {
  const { code, stdout, stderr } = await runAstra([...args, '--json'], { home })
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'usage',
    message: expect.stringContaining(message),
  })
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(code).toBe(2)
})

it('--json says what may have been meant', async () => {
  const { stdout } = await runAstra(['statsu', '--json'], { home })
  const error = { code: 'usage', message: "unknown command 'statsu'", hint: 'Did you mean status?' }
  expect(JSON.parse(stdout)).toEqual({ error })
})
