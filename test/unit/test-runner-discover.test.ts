import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { discoverCommands, nodeRangeOf } from '../../services/test-runner/discovery/discover.ts'
import { workspaceFiles } from '../../services/test-runner/discovery/workspace-files.ts'
import { pythonToolchain } from '../../services/test-runner/toolchains/python.ts'
import { hasPytest, pathEnv } from '../support/test-runner.ts'

let root = ''

afterEach(() => rm(root, { recursive: true, force: true }))

async function workspace(contents: Record<string, string>) {
  root = await mkdtemp(join(tmpdir(), 'astra-workspace-'))
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return workspaceFiles(root, Object.keys(contents))
}

async function commandsOf(contents: Record<string, string>, path = pathEnv) {
  const files = await workspace(contents)
  const manifest = { workspace: files.root, files: [], links: [] }
  const request = {
    base: files.root,
    manifest,
    pathEnv: path,
    nodeRange: null,
    guarded: [],
    goCache: '',
  }
  const found = await discoverCommands(
    files,
    async () => (await pythonToolchain(request)).hasPytest,
  )
  return found.found ? found.commands.map((command) => command.display) : found.problem
}

const script = (test: string, more = {}) => ({
  'package.json': JSON.stringify({ scripts: { test, ...more } }),
})

describe('discoverCommands', () => {
  it.each([
    ['vitest', script('vitest run')],
    ['jest', script('NODE_OPTIONS=--experimental-vm-modules jest --coverage')],
    ['mocha spec', script('cross-env A=1 mocha --reporter dot spec')],
    ['node --test', script('node --test')],
    ['node --test --import tsx', script('node --import tsx --test')],
    ['vitest', script('tsc --noEmit && vitest')],
    ['jest', script('npm run test:unit', { 'test:unit': 'jest' })],
    ['vitest', { 'package.json': '{"devDependencies":{"vitest":"^4"}}' }],
    ['jest', { 'package.json': '{"jest":{}}' }],
    ['mocha', { '.mocharc.json': '{}' }],
    ['node --test', { 'src/a.test.mjs': '' }],
    ['node --test', { 'test/a.js': "const test = require('node:test')" }],
    ['go test ./...', { 'go.mod': 'module a', 'a/a_test.go': '' }],
    ['cargo test', { 'Cargo.toml': '[package]', 'src/lib.rs': '#[test]\nfn a() {}' }],
    ['python -m unittest', { 'test_a.py': 'import unittest\nclass A(unittest.TestCase): pass' }],
    ['pytest', { 'tests/test_a.py': 'def test_a(): pass' }],
    ['pytest', { 'tests/test_a.py': 'class TestA:\n  pass', 'conftest.py': '' }],
    ['pytest', { 'tests/test_a.py': '', 'pyproject.toml': '[tool.pytest.ini_options]' }],
  ])('finds %s', async (command, contents) => {
    expect(await commandsOf(contents)).toEqual([command])
  })

  it('finds the tests of several languages, the default first', async () => {
    const contents = { ...script('vitest'), 'tests/test_a.py': 'def test_a(): pass' }
    expect(await commandsOf(contents)).toEqual(['vitest', 'pytest'])
  })

  it.skipIf(!hasPytest)('takes pytest for a mixture where it is installed', async () => {
    const mixture = {
      'test_a.py': 'import unittest\nclass A(unittest.TestCase): pass\ndef test_b(): pass',
    }
    expect(await commandsOf(mixture)).toEqual(['pytest'])
    await rm(root, { recursive: true })
    expect(await commandsOf(mixture, '/nonexistent')).toEqual(['python -m unittest'])
  })

  it('lets .astra.json decide alone', async () => {
    const contents = {
      ...script('vitest'),
      '.astra.json': JSON.stringify({ command: 'python3 -m pytest "tests/a b" -q' }),
    }
    expect(await commandsOf(contents)).toEqual(['pytest "tests/a b" -q'])
  })

  it.each([
    ['{"command": "make test"}', /command "make test" is none that can be run/],
    ['{"command": "pytest | tee log"}', /none that can be run/],
    ['{"command": 3}', /expected string[\s\S]*command/],
    ['{"commands": "pytest"}', /commands/],
    ['{"node": "newest"}', /range of versions/],
    ['{"command": ', /not JSON/],
  ])('says what is wrong with .astra.json: %s', async (text, expected) => {
    expect(await commandsOf({ '.astra.json': text, 'a.test.js': '' })).toMatch(expected)
  })

  it.each([
    [{}],
    [{ 'README.md': 'no tests' }],
    [{ 'package.json': '{"scripts":{"test":"echo no test specified && exit 1"}}' }],
    [{ 'package.json': 'not json' }],
    [{ 'Cargo.toml': '[package]', 'src/lib.rs': '' }],
  ])('says where to name a command when there is none: %j', async (contents) => {
    expect(await commandsOf(contents)).toMatch(/name their command in \.astra\.json/)
  })
})

describe('nodeRangeOf', () => {
  it('takes .astra.json before engines.node', async () => {
    const engines = { 'package.json': '{"engines":{"node":">=18"}}' }
    expect(await nodeRangeOf(await workspace(engines))).toBe('>=18')
    await rm(root, { recursive: true })
    const both = { ...engines, '.astra.json': '{"node":">=24"}' }
    expect(await nodeRangeOf(await workspace(both))).toBe('>=24')
  })

  it('is null where the workspace says nothing', async () => {
    expect(await nodeRangeOf(await workspace({ 'package.json': '[]' }))).toBeNull()
  })
})
