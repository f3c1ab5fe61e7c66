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
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryStateSchema } from '../../shared/contracts/memory.ts'
import { productVersion } from '../../shared/product-version.ts'
import { runAstra } from '../support/cli.ts'

let home: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'astra-cli-')))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const astra = (args: string[], env: Record<string, string> = {}) => runAstra(args, { home, env })

function makeWorkspace(): string {
  const workspace = join(home, 'project')
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'a.js'), '')
  return workspace
}

describe('wrong usage ends with code 2, one line that names the fault, and nothing begun', () => {
  const cases: [string, string[], RegExp][] = [
    ['no workspace', ['fix'], /missing required argument 'workspace'/],
    ['an unknown command', ['fixx'], /unknown command 'fixx'/],
    ['an unknown option', ['fix', '.', '--fast'], /unknown option '--fast'/],
    ['a missing folder', ['fix', 'nowhere'], /there is no folder .*nowhere/],
    ['an empty folder', ['fix', 'empty'], /it has no files/],
    ['a file', ['fix', 'file.txt'], /file\.txt is a file, not a folder/],
    ['a run id of digits', ['fix', '.', '--run-id', '42'], /may not be digits alone/],
    ['a run id of a smoke test', ['fix', '.', '--run-id', 'smoke-1'], /begins the names of smoke/],
    ['a run id that is a path', ['fix', '.', '--run-id', '../x'], /a run id is 1 to 64 letters/],
    ['a limit of zero', ['fix', '.', '--max-requests', '0'], /whole number from 1 to 1000/],
    ['a limit that is no number', ['fix', '.', '--max-tokens', '1e6'], /whole number/],
    ['a negative budget', ['fix', '.', '--budget=-1'], /amount in dollars/],
    ['a recall mode that is none', ['fix', '.', '--recall', 'x'], /Allowed choices are tool, pre/],
    ['a priority that is none', ['fix', '.', '--priority', 'x'], /choices are high, normal, low/],
    ['an empty prompt', ['fix', '.', '--prompt', ' '], /1 to 20,000 characters/],
    ['paid and unpaid at once', ['fix', '.', '--offline', '--approve-live-cost'], /cannot be used/],
    ['the status of no run', ['status'], /missing required argument 'run'/],
    ['the status of a bad run id', ['status', 'a/b'], /a run id is 1 to 64 letters/],
    ['a smoke test of no record', ['smoke', 'verify'], /--memory-id/],
    ['a proof of nothing', ['verify'], /missing required argument 'run-or-workspace'/],
    ['a proof of a path', ['verify', './project'], /no run id\n.*--patch FILE/],
    ['a patch that is missing', ['verify', '--patch', 'no.patch', '.'], /cannot read .*no\.patch/],
    ['an empty patch', ['verify', '--patch', '/dev/null', '.'], /there is no patch in \/dev\/null/],
    ['a patch on nothing', ['verify', '--patch', 'x.patch', 'nowhere'], /there is no folder/],
    [
      'a patch that does not fit',
      ['verify', '--patch', 'x.patch', 'old'],
      /fit a\.js: hunk 1 of 1/,
    ],
    [
      'a receipt nowhere',
      ['verify', 'mine', '--receipt', 'no/r.json'],
      /cannot write .*no\/r\.json/,
    ],
    [
      'a state that is none',
      ['memory', 'list', '--state', 'x'],
      /choices are revoked, superseded,/,
    ],
    ['an empty error type', ['memory', 'list', '--error-type', ' '], /must have 1 to 200 char/],
    ['an empty repository', ['memory', 'list', '--repository', ''], /must have 1 to 200 char/],
    ['an empty session', ['memory', 'list', '--session', ''], /must have 1 to 200 char/],
    ['one session only', ['experiment', '--sessions', '1'], /whole number from 2 to 50/],
    [
      'a result file without a folder',
      ['demo', '--json', 'no/x.json'],
      /cannot write .*no\/x\.json/,
    ],
  ]
  it.each(cases)('%s', async (_title, args, message) => {
    mkdirSync(join(home, 'empty'))
    writeFileSync(join(home, 'file.txt'), '')
    mkdirSync(join(home, 'old'))
    writeFileSync(join(home, 'old', 'a.js'), 'one')
    writeFileSync(join(home, 'x.patch'), '--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-two\n+three\n')
    const { code, stderr } = await astra(args)
    expect(stderr).toMatch(/^astra: /m)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(code).toBe(2)
    const runs = join(home, 'astra', 'runs')
    expect(existsSync(runs) ? readdirSync(runs) : []).toEqual([])
  })

  it('a bad setting is named, and help works all the same', async () => {
    makeWorkspace()
    const env = { ASTRA_MAX_REQUESTS: 'many' }
    const { code, stderr } = await astra(['fix', 'project'], env)
    expect(stderr).toMatch(/ASTRA_MAX_REQUESTS/)
    expect(code).toBe(2)
    expect(await astra(['fix', '--help'], env)).toMatchObject({ code: 0, stderr: '' })
  })

  it('a run id that exists is refused, and its run is left as it was', async () => {
    makeWorkspace()
    const folder = join(home, 'astra', 'runs', 'mine')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'base.json'), 'kept')
    const { code, stderr } = await astra(['fix', 'project', '--run-id', 'mine'])
    expect(stderr).toMatch(/a run mine exists already/)
    expect(stderr).toMatch(/astra status mine/)
    expect(code).toBe(2)
    expect(readdirSync(folder)).toEqual(['base.json'])
  })
})

describe('--json', () => {
  it('tells a fault of ours as JSON on stdout', async () => {
    const { code, stdout } = await astra(['fix', 'nowhere', '--json'])
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'usage',
        message: expect.stringMatching(/there is no folder/),
        hint: expect.any(String),
      },
    })
    expect(code).toBe(2)
  })

  it('tells wrong options as JSON on stdout too', async () => {
    const { code, stdout } = await astra(['status', 'a/b', '--json'])
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'usage' })
    expect(code).toBe(2)
  })
})

describe('a Redis that does not answer', () => {
  it('is named without its password, and the run that it cannot take leaves nothing behind', async () => {
    makeWorkspace()
    const env = { REDIS_URL: 'redis://user:secret@127.0.0.1:1' }
    const { code, stdout, stderr } = await astra(['fix', 'project', '--offline', '--json'], env)
    const { error } = JSON.parse(stdout)
    expect(error).toMatchObject({ code: 'unavailable' })
    expect(error.message).toMatch(/Redis does not answer at redis:\/\/127\.0\.0\.1:1/)
    expect(`${stdout}${stderr}`).not.toMatch(/secret/)
    expect(code).toBe(1)
    expect(readdirSync(join(home, 'astra', 'runs'))).toEqual([])
  })
})

describe('help', () => {
  it('lists every command and the exit codes', async () => {
    const all = await astra(['--help'])
    const names =
      'up fix enqueue apply verify status runs watch cancel memory keys smoke demo experiment doctor'
    for (const name of names.split(' '))
      expect(all.stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
    expect(all.code).toBe(0)
    const fix = await astra(['help', 'fix'])
    for (const line of ['0    fixed', '6    refused', '130  interrupted']) {
      expect(fix.stdout).toContain(line)
    }
  })

  it('tells the version, also as JSON', async () => {
    const version = productVersion()
    expect(await astra(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
    for (const args of [
      ['--version', '--json'],
      ['--json', '-V'],
    ]) {
      const { code, stdout } = await astra(args)
      expect(JSON.parse(stdout)).toEqual({ version, node: process.version })
      expect(code).toBe(0)
    }
  })

  it('shows how the memory is filtered', async () => {
    const { code, stdout } = await astra(['memory', 'list', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('astra memory list --error-type TypeError --state live')
    for (const state of memoryStateSchema.options) {
      expect(stdout).toMatch(new RegExp(`^ +${state} `, 'm'))
    }
  })
})

describe('doctor', () => {
  it('finds a fresh installation healthy, and never shows a key', async () => {
    const { code, stdout } = await astra(['doctor', '--json'], { OPENAI_API_KEY: 'sk-hidden' })
    const { healthy, checks } = JSON.parse(stdout)
    expect(stdout).not.toMatch(/sk-hidden/)
    expect(checks.map((check: { name: string }) => check.name)).toEqual([
      'node',
      'data folder',
      'services',
      'leftovers',
      'redis',
      'model file',
      'memory',
      'keys',
      'api key',
      'git',
      'sandbox',
    ])
    expect(checks.find((check: { name: string }) => check.name === 'api key').result).toBe('ok')
    expect(healthy).toBe(true)
    expect(code).toBe(0)
    expect(existsSync(join(home, 'astra'))).toBe(false)
  })

  it('fails for a Redis that is away, a missing model and a damaged memory', async () => {
    mkdirSync(join(home, 'astra', 'memory'), { recursive: true })
    writeFileSync(join(home, 'astra', 'memory', 'memory.db'), 'this is no database at all, sorry')
    const env = { REDIS_URL: 'redis://127.0.0.1:1', EMBEDDING_MODEL_PATH: home }
    const { code, stdout } = await astra(['doctor', '--json'], env)
    const failed = JSON.parse(stdout).checks.filter(
      (check: { result: string }) => check.result === 'fail',
    )
    expect(failed.map((check: { name: string }) => check.name)).toEqual([
      'redis',
      'model file',
      'memory',
    ])
    for (const check of failed) expect(check.advice).toBeTruthy()
    expect(code).toBe(1)
  })
})
