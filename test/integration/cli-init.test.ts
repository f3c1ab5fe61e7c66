import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { foundCommands } from '../../services/cli/init/found-commands.ts'
import { settingsTemplate } from '../../services/cli/init/settings-template.ts'
import { readIncludeGlobs } from '../../services/cli/snapshot/include-globs.ts'
import { readWorkspaceConfig } from '../../services/test-runner/discovery/workspace-config.ts'
import { productRoot } from '../../shared/config.ts'
import { parseJsonc } from '../../shared/jsonc.ts'
import { createAstra } from '../support/astra.ts'
import { runAstra } from '../support/cli.ts'

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'astra-init-')))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function write(files: Record<string, string>): string[] {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  return Object.keys(files)
}

const script = (test: string) => ({ 'package.json': JSON.stringify({ scripts: { test } }) })

describe('the file that init writes', () => {
  it.each([
    ['vitest', script('vitest run'), 'vitest'],
    ['jest, with a variable', script('NODE_OPTIONS="--a --b" jest src'), 'jest src'],
    ['mocha', script('mocha "test/a b"'), 'mocha "test/a b"'],
    ['node --test', { 'a.test.mjs': '' }, 'node --test'],
    ['pytest', { 'test_a.py': 'def test_a(): pass' }, 'pytest'],
    ['unittest', { 'test_a.py': 'class A(TestCase): pass' }, 'python -m unittest'],
    ['go', { 'go.mod': '', 'a_test.go': '' }, 'go test ./...'],
    ['cargo', { 'Cargo.toml': '', 'src/lib.rs': '#[test]' }, 'cargo test'],
  ])('names the test command of a project with %s, as a run finds it', async (...given) => {
    const [, files, display] = given
    const found = await foundCommands(home, write(files))
    write({ '.astra.json': settingsTemplate(found) })
    const config = await readWorkspaceConfig(home)
    expect(config).toMatchObject({ command: { display }, nodeRange: null })
    if (display.startsWith('jest')) {
      expect(config).toMatchObject({ command: { env: { NODE_OPTIONS: '--a --b' } } })
    }
    expect((await readIncludeGlobs(home)).matches('a')).toBe(false)
  })

  it.each([
    ['two', { ...script('vitest'), 'test_a.py': 'def test_a(): pass' }, '"vitest", "pytest"'],
    ['no test command', { 'README.md': '' }, 'None was found here'],
  ])('leaves the choice open where there is %s', async (_title, files, said) => {
    const text = settingsTemplate(await foundCommands(home, write(files)))
    expect(text).toContain(said)
    expect(parseJsonc(text)).toEqual({ value: {} })
  })

  it('gives each setting an example that is taken once its comment is off', async () => {
    const text = settingsTemplate([]).replace(/^ {2}\/\/ (?=")/gm, '  ')
    write({ '.astra.json': text })
    expect(await readWorkspaceConfig(home)).toMatchObject({
      command: { display: 'pytest -q' },
      nodeRange: '>=22.18',
    })
    expect((await readIncludeGlobs(home)).matches('fixtures/generated/a')).toBe(true)
  })
})

describe('astra init', () => {
  it('says what it found, and leaves a file that is there unless it is forced', async () => {
    const workspace = join(home, 'project')
    write({ 'project/a.test.mjs': '' })
    const file = join(workspace, '.astra.json')
    const init = (...args: string[]) => runAstra(['init', 'project', ...args], { home })
    const first = await init('--json')
    expect(JSON.parse(first.stdout)).toEqual({ file, commands: ['node --test'] })
    expect(first).toMatchObject({ code: 0, stderr: '' })
    writeFileSync(file, '{"command": "mine"}')
    const second = await init()
    expect(second).toMatchObject({ code: 2, stdout: '' })
    expect(second.stderr).toMatch(/is there already; it was left as it is\n {2}--force puts/)
    expect(readFileSync(file, 'utf8')).toBe('{"command": "mine"}')
    writeFileSync(file, '{"command": ')
    expect((await init()).stderr).toMatch(/is not JSON: line 1, column 13: value expected/)
    expect(await init('--force')).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).toContain('"command": "node --test",')
  })

  it('writes what fix then works with', async () => {
    const astra = await createAstra()
    try {
      const workspace = join(home, 'beta')
      const template = join(productRoot, 'demo_projects/templates/typescript/scenario_beta')
      await cp(template, workspace, { recursive: true })
      expect(await astra.cli(['init', workspace])).toMatchObject({ code: 0 })
      const { code, stdout } = await astra.cli(['fix', workspace, '--offline', '--json'])
      expect(readFileSync(join(workspace, '.astra.json'), 'utf8')).toContain(
        '"command": "node --test"',
      )
      const verification = { command: 'node --test' }
      expect(JSON.parse(stdout)).toMatchObject({ status: 'fixed', verification })
      expect(code).toBe(0)
    } finally {
      await astra.remove()
    }
  })
})
