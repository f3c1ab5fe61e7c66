import { copyFile, mkdir, symlink } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { type Folder, openFolder } from '../support/real-folders.ts'
import { makeRun, pathEnv } from '../support/test-runner.ts'

let folder: Folder

beforeEach(async () => {
  folder = await openFolder()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await folder.remove()
})

/** The output of a baseline with a test that fails after the given statements. */
async function outputOf(
  statements: string,
  options: { workspace?: string; path?: string; links?: { path: string; target: string }[] },
): Promise<string> {
  const text = `require('node:test')('looks', async () => { ${statements}; throw new Error('looked') })`
  const workspace = options.workspace ?? folder.at('shop')
  const tested = await makeRun({ 'a.test.cjs': text }, { ...options, workspace })
  try {
    const result = await tested.baseline()
    if (result.kind !== 'red') throw new Error(JSON.stringify(result))
    expect(result.failed).toBe(1)
    return result.output
  } finally {
    await tested.remove()
  }
}

const pathWith = (...folders: string[]) => [...folders, pathEnv].join(delimiter)
const SAYS_NODE = 'console.log("node=" + process.execPath)'
const saysWhetherThere = (path: string) =>
  `console.log('${path}', require('node:fs').existsSync('${path}') ? 'is there' : 'is not there')`

describe('the Node of a person', () => {
  it('is one that stands in an installation, with its npm', async () => {
    const node = folder.at('.nvm/versions/node/v24.0.0/bin/node')
    await mkdir(dirname(node), { recursive: true })
    await copyFile(process.execPath, node)
    const npm = await folder.write('.nvm/versions/node/v24.0.0/lib/node_modules/npm/index.js', '')
    const output = await outputOf(`${SAYS_NODE}; ${saysWhetherThere(npm)}`, {
      path: pathWith(dirname(node)),
    })
    expect(output).toContain(`node=${node}`)
    expect(output).toContain(`${npm} is there`)
  })

  it('is a program by itself in ~/bin, and nothing else of the home folder is shown', async () => {
    const node = folder.at('person/bin/node')
    await mkdir(dirname(node), { recursive: true })
    await copyFile(process.execPath, node)
    // They make the home folder look like an installation of Node.
    await folder.write('person/lib/node_modules/npm/index.js', '')
    const secret = await folder.write('person/.token', 'secret')
    vi.stubEnv('HOME', folder.at('person'))
    const output = await outputOf(`${SAYS_NODE}; ${saysWhetherThere(secret)}`, {
      path: pathWith(dirname(node)),
    })
    expect(output).toContain(`node=${node}`)
    expect(output).toContain(`${secret} is not there`)
  })

  it('is one in ~/.local, and the data beside it is not shown', async () => {
    const node = folder.at('person/.local/bin/node')
    await mkdir(dirname(node), { recursive: true })
    await copyFile(process.execPath, node)
    await folder.write('person/.local/lib/node_modules/npm/index.js', '')
    const secret = await folder.write('person/.local/share/keyrings/login', 'secret')
    vi.stubEnv('HOME', folder.at('person'))
    const output = await outputOf(saysWhetherThere(secret), { path: pathWith(dirname(node)) })
    expect(output).toContain(`${secret} is not there`)
  })

  it('is the one that a shim starts', async () => {
    await folder.program('shims/node', `exec ${process.execPath} "$@"`)
    const output = await outputOf(SAYS_NODE, { path: pathWith(folder.at('shims')) })
    expect(output).toContain(`node=${process.execPath}`)
  })

  it('is the next of PATH where a shim has no version', async () => {
    await folder.program('shims/node', 'echo no version is set >&2; exit 126')
    await folder.program('more/node', `exec ${process.execPath} "$@"`)
    const path = pathWith(folder.at('shims'), folder.at('more'))
    expect(await outputOf(SAYS_NODE, { path })).toContain(`node=${process.execPath}`)
  })
})

describe('a workspace of a monorepo', () => {
  it('has hoisted packages and its neighbours, without their secrets', async () => {
    const workspace = folder.at('mono/packages/a')
    await mkdir(workspace, { recursive: true })
    await folder.write('mono/node_modules/left/index.js', 'module.exports = "left-1"')
    await folder.write('mono/packages/b/package.json', '{"main": "src/index.js"}')
    await folder.write('mono/packages/b/src/index.js', 'module.exports = "neighbour-1"')
    const hidden = [
      await folder.write('mono/packages/b/.env', 'TOKEN=secret'),
      await folder.write('mono/packages/b/.git/config', 'secret'),
    ]
    const ssh = await folder.write('person/.ssh/id_ed25519', 'secret')
    await symlink(dirname(ssh), folder.at('mono/packages/b/link'))
    await mkdir(folder.at('mono/node_modules/@mono'))
    await symlink('../../packages/b', folder.at('mono/node_modules/@mono/b'))
    await symlink('../../packages/a', folder.at('mono/node_modules/@mono/a'))
    const loads = "console.log(require('left'), require('@mono/b'))"
    const looks = [...hidden, ssh, folder.at('mono/packages/b/link')].map(saysWhetherThere)
    const output = await outputOf([loads, ...looks].join('; '), { workspace })
    expect(output).toContain('left-1 neighbour-1')
    for (const path of [...hidden, ssh]) expect(output).toContain(`${path} is not there`)
    expect(output).toContain('b/link is not there')
  })

  it('finds its runner in the node_modules above', async () => {
    const workspace = folder.at('mono/packages/a')
    await mkdir(workspace, { recursive: true })
    const vitest = join(productRoot, 'node_modules/vitest')
    await mkdir(folder.at('mono/node_modules/.bin'), { recursive: true })
    await symlink(vitest, folder.at('mono/node_modules/vitest'))
    await symlink('../vitest/vitest.mjs', folder.at('mono/node_modules/.bin/vitest'))
    const contents = {
      'package.json': '{"scripts":{"test":"vitest run"},"engines":{"node":">=24"}}',
      'a.test.js':
        "import { expect, test } from 'vitest'\nimport { a } from './a.js'\ntest('is 3', () => expect(a).toBe(3))",
      'a.js': 'export const a = 2',
    }
    const tested = await makeRun(contents, { workspace })
    try {
      expect(await tested.baseline()).toMatchObject({ kind: 'red', failed: 1 })
      const proof = await tested.verify('vitest', { 'a.js': 'export const a = 3' })
      expect(proof).toMatchObject({ confirmed: true })
    } finally {
      await tested.remove()
    }
  })
})

describe('a linked package', () => {
  it('is shown with what it depends on, wherever it lies', async () => {
    await folder.write('elsewhere/lib/package.json', '{"main": "index.js"}')
    await folder.write('elsewhere/lib/index.js', 'module.exports = require("deep")')
    await folder.write('elsewhere/lib/node_modules/deep/index.js', 'module.exports = "deep-1"')
    await mkdir(folder.at('shop/node_modules/@x'), { recursive: true })
    await mkdir(folder.at('global/node_modules/@x'), { recursive: true })
    await symlink(folder.at('elsewhere/lib'), folder.at('global/node_modules/@x/lib'))
    await symlink(folder.at('global/node_modules/@x/lib'), folder.at('shop/node_modules/@x/lib'))
    const links = [{ path: 'node_modules', target: folder.at('shop/node_modules') }]
    const output = await outputOf("console.log(require('@x/lib'))", { links })
    expect(output).toContain('deep-1')
  })

  it('is not shown when it is the home folder or no package', async () => {
    const secret = await folder.write('person/token', 'secret')
    await folder.write('person/package.json', '{}')
    const other = await folder.write('other/token', 'secret')
    await mkdir(folder.at('shop/node_modules'), { recursive: true })
    await symlink(folder.at('person'), folder.at('shop/node_modules/person'))
    await symlink(folder.at('other'), folder.at('shop/node_modules/other'))
    vi.stubEnv('HOME', folder.at('person'))
    const links = [{ path: 'node_modules', target: folder.at('shop/node_modules') }]
    const output = await outputOf(`${saysWhetherThere(secret)}; ${saysWhetherThere(other)}`, {
      links,
    })
    for (const path of [secret, other]) expect(output).toContain(`${path} is not there`)
  })
})

describe('a workspace at an odd place', () => {
  it.each(['a b/pröject ünï', "it's $HOME", '-rf', 'a:b'])('runs its tests: %s', async (name) => {
    await mkdir(folder.at(name), { recursive: true })
    const workspace = folder.at(name)
    const output = await outputOf('console.log(process.cwd())', { workspace })
    expect(output).toContain('looked')
  })

  it('may be the home folder itself', async () => {
    vi.stubEnv('HOME', folder.at('shop'))
    const secret = await folder.write('shop/.token', 'secret')
    expect(await outputOf(saysWhetherThere(secret), {})).toContain('is not there')
  })
})
