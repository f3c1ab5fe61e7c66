import { spawnSync } from 'node:child_process'
import { access, mkdir, rm, symlink } from 'node:fs/promises'
import { delimiter } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findToolchain } from '../../services/test-runner/toolchains/find-toolchain.ts'
import { type Folder, openFolder } from '../support/real-folders.ts'
import { makeRun, pathEnv } from '../support/test-runner.ts'

let folder: Folder
let mark = ''

beforeEach(async () => {
  folder = await openFolder()
  mark = folder.at('ran-outside')
})
afterEach(() => folder.remove())

const wasRunOutside = () =>
  access(mark).then(
    () => true,
    () => false,
  )

/** A program of the workspace's that says when it runs on this machine. */
async function plant(path: string): Promise<void> {
  const program = await folder.program(path, `: > ${mark}\nexit 1`)
  spawnSync(program)
  expect(await wasRunOutside()).toBe(true)
  await rm(mark)
}

const node = {
  'a.test.js': "require('node:test')('adds', () => { if (require('./a.js') !== 3) throw 1 })",
  'a.js': 'module.exports = 2',
}
const python = {
  'test_a.py':
    'import unittest\nfrom a import A\nclass T(unittest.TestCase):\n' +
    '    def test_a(self): self.assertEqual(A, 3)\n',
  'a.py': 'A = 2\n',
}
const vitest = { 'package.json': '{"scripts":{"test":"vitest run"}}', 'a.test.js': '' }

/** Discovery, a baseline, a test run and a proof, as far as they come. */
async function runAll(
  contents: Record<string, string>,
  edits: Record<string, string>,
  options: { path?: string; links?: { path: string; target: string }[] } = {},
) {
  const workspace = folder.at('shop')
  const tested = await makeRun(contents, { workspace, ...options })
  try {
    const before = await tested.baseline()
    const command = 'command' in before ? before.command : 'vitest'
    const after = await tested.run(command, edits)
    await tested.verify(command, edits, true)
    return { before, after }
  } finally {
    await tested.remove()
  }
}

describe('a program that a workspace brings', () => {
  it.each(['python', 'python3', 'pytest'])('is not run outside: %s of its .venv', async (name) => {
    await folder.write('shop/.venv/pyvenv.cfg', 'home = /usr/bin\n')
    await plant(`shop/.venv/bin/${name}`)
    const links = [{ path: '.venv', target: folder.at('shop/.venv') }]
    await runAll(python, { 'a.py': 'A = 3\n' }, { links })
    expect(await wasRunOutside()).toBe(false)
  })

  it.each(['vitest', 'node', 'npm'])('is not run outside: %s of node_modules', async (name) => {
    await plant(`shop/node_modules/.bin/${name}`)
    const links = [{ path: 'node_modules', target: folder.at('shop/node_modules') }]
    await runAll(vitest, { 'a.js': '' }, { links })
    await runAll(node, { 'a.js': 'module.exports = 3' }, { links })
    expect(await wasRunOutside()).toBe(false)
  })

  const programs = ['node', 'python3', 'python', 'go', 'rustc', 'cargo', 'sh', 'bwrap']
  const ways = {
    'as it is': async () => folder.at('shop/bin'),
    'by a link to the folder': async () => {
      await symlink(folder.at('shop/bin'), folder.at('bin'))
      return folder.at('bin')
    },
    'by another name of the workspace': async () => {
      await symlink(folder.at('shop'), folder.at('other'))
      return folder.at('other/bin')
    },
    'by links to the programs': async () => {
      await mkdir(folder.at('bin'))
      for (const name of programs)
        await symlink(folder.at('shop/bin', name), folder.at('bin', name))
      return folder.at('bin')
    },
  }
  it.each(Object.entries(ways))('is not run outside when PATH holds it %s', async (_name, way) => {
    for (const name of programs) await plant(`shop/bin/${name}`)
    const path = [await way(), pathEnv].join(delimiter)
    const { after } = await runAll(node, { 'a.js': 'module.exports = 3' }, { path })
    expect(after.kind).toBe('green')
    await runAll(python, { 'a.py': 'A = 3\n' }, { path })
    const manifest = { workspace: folder.at('shop'), files: [], links: [] }
    const asked = { base: folder.at('shop'), manifest, pathEnv: path, nodeRange: null }
    for (const runner of ['go', 'cargo'] as const) {
      await findToolchain(runner, { ...asked, guarded: [], goCache: folder.at('cache') })
    }
    expect(await wasRunOutside()).toBe(false)
  })

  it('is not run outside because version files of the workspace name it', async () => {
    await plant('shop/bin/node')
    const files = {
      '.python-version': '../../shop',
      '.tool-versions': `nodejs path:${folder.at('shop')}\npython path:${folder.at('shop')}\n`,
      '.nvmrc': folder.at('shop'),
      '.node-version': folder.at('shop/bin/node'),
      '.npmrc': `script-shell=${folder.at('shop/bin/node')}\nnode-options=--require ./evil.js\n`,
      'rust-toolchain.toml': `[toolchain]\npath = "${folder.at('shop')}"\n`,
    }
    const { after } = await runAll({ ...node, ...files }, { 'a.js': 'module.exports = 3' })
    expect(after.kind).toBe('green')
    await runAll({ ...python, ...files }, { 'a.py': 'A = 3\n' })
    expect(await wasRunOutside()).toBe(false)
  })
})

describe('pyvenv.cfg of a workspace', () => {
  const homes = {
    'the home folder': () => folder.at('person/bin'),
    'the home folder by a detour': () => `/proc/self/root${folder.at('person/bin')}`,
    'a folder of secrets': () => folder.at('secrets/bin'),
    'a link to the home folder': () => folder.at('shop/link/bin'),
    'a part of the workspace': () => folder.at('shop/part/bin'),
  }
  it.each(Object.entries(homes))('does not show %s to tests', async (_name, home) => {
    const text = await folder.write('secrets/token', 'secret')
    const inHome = await folder.write('person/token', 'secret')
    const inPart = await folder.write('shop/part/token', 'secret')
    // Both are laid out as a Python installation, as a home with a Python of its own is.
    for (const prefix of ['person', 'shop/part'])
      await folder.write(`${prefix}/lib/python3.9/os.py`, '')
    await symlink(folder.at('person'), folder.at('shop/link'))
    await folder.write('shop/.venv/pyvenv.cfg', `home = ${home()}\n`)
    const paths = [text, inHome, inPart, folder.at('shop/link/token')]
    const looks = paths.map((path) => `[ -e ${path} ] && echo "saw ${path}"`).join('\n')
    await folder.program('shop/.venv/bin/python3', `${looks}\necho looked\nexit 1`)
    vi.stubEnv('HOME', folder.at('person'))
    const links = [{ path: '.venv', target: folder.at('shop/.venv') }]
    const tested = await makeRun(python, { workspace: folder.at('shop'), links })
    try {
      expect(await tested.baseline()).toMatchObject({ kind: 'unusable', output: 'looked' })
    } finally {
      vi.unstubAllEnvs()
      await tested.remove()
    }
  })
})
