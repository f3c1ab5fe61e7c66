import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testEnvironment } from '../../services/test-runner/environment.ts'
import { makeTestFolder, type TestFolder } from '../../services/test-runner/test-folder.ts'
import { readManifest } from '../../shared/workspace.ts'
import { hasPytest, makeRun, pathEnv, type TestedRun } from '../support/test-runner.ts'

let tested: TestedRun
let folder: TestFolder

async function environment(nodeRange: string | null) {
  const manifest = await readManifest(tested.files)
  folder = await makeTestFolder(tested.home, tested.files, manifest, null)
  return testEnvironment({ home: tested.home, manifest, folder, pathEnv, nodeRange })
}

beforeEach(async () => {
  process.env.OPENAI_API_KEY = 'sk-secret'
  process.env.NODE_ENV = 'test'
  tested = await makeRun({ 'a.js': '' })
})
afterEach(async () => {
  delete process.env.OPENAI_API_KEY
  await folder?.remove()
  await tested.remove()
})

describe('testEnvironment', () => {
  it("holds nothing of this process's secrets and test settings", async () => {
    const env = await environment(null)
    expect(JSON.stringify(env)).not.toContain('sk-secret')
    const names = [
      'OPENAI_API_KEY',
      'VITEST',
      'NODE_ENV',
      'NODE_OPTIONS',
      'REDIS_URL',
      'ASTRA_HOME',
    ]
    expect(Object.keys(env).filter((name) => names.includes(name))).toEqual([])
    expect(env).toMatchObject({ CI: '1', GOPROXY: 'off', GOTOOLCHAIN: 'local' })
  })

  it("has a home and a temporary folder of the run's own", async () => {
    const env = await environment(null)
    expect([env.HOME, env.TMPDIR]).toEqual([folder.home, folder.temporary])
    expect(dirname(folder.home)).not.toBe(process.env.HOME)
  })

  it("finds the workspace's own programs first, then the person's", async () => {
    const env = await environment(null)
    const bin = join(folder.workspace, 'node_modules', '.bin')
    expect(env.PATH).toBe([bin, pathEnv].join(delimiter))
  })

  it("has our Node only where the workspace excludes the person's and allows ours", async () => {
    const ours = dirname(process.execPath)
    expect((await environment('>=1')).PATH?.split(delimiter)).not.toContain(ours)
    await folder.remove()
    expect((await environment('<1')).PATH?.split(delimiter)).not.toContain(ours)
    await folder.remove()
    const exactly = (await environment(process.version)).PATH?.split(delimiter)
    expect(exactly?.[1]).toBe(ours)
  })
})

describe('a test folder', () => {
  it('is removed with everything in it', async () => {
    await environment(null)
    await folder.remove()
    await expect(readdir(dirname(folder.home))).rejects.toThrow('ENOENT')
  })

  it.skipIf(process.getuid?.() === 0)('is removed when tests made it read-only', async () => {
    await environment(null)
    await mkdir(join(folder.temporary, 'locked', 'deep'), { recursive: true })
    await chmod(join(folder.temporary, 'locked'), 0o500)
    await folder.remove()
    await expect(readdir(dirname(folder.home))).rejects.toThrow('ENOENT')
  })

  it('is named as the workspace is, because some projects import themselves by name', async () => {
    await environment(null)
    expect(folder.workspace.endsWith('/shop')).toBe(true)
  })
})

describe('a virtual environment with an editable install', () => {
  it.skipIf(!hasPytest)("tests the copy's sources and not the person's", async () => {
    const workspace = await mkdtemp(join(tmpdir(), 'astra-editable-'))
    const venv = join(workspace, '.venv')
    execFileSync('python3', ['-m', 'venv', '--without-pip', '--system-site-packages', venv])
    const [version = ''] = await readdir(join(venv, 'lib'))
    const pth = join(venv, 'lib', version, 'site-packages', '__editable__.shop.pth')
    await writeFile(pth, `${join(workspace, 'src')}\n`)
    const contents = {
      'src/shop/__init__.py': 'def total():\n    return 1\n',
      'tests/test_shop.py': 'import shop\n\ndef test_total():\n    assert shop.total() == 2\n',
    }
    await mkdir(join(workspace, 'src', 'shop'), { recursive: true })
    await writeFile(join(workspace, 'src/shop/__init__.py'), contents['src/shop/__init__.py'])
    const links = [{ path: '.venv', target: venv }]
    const run = await makeRun(contents, { links, workspace })
    try {
      expect(await run.baseline()).toMatchObject({ kind: 'red', failed: 1 })
      const edits = { 'src/shop/__init__.py': 'def total():\n    return 2\n' }
      expect(await run.verify('pytest', edits)).toMatchObject({ confirmed: true })
    } finally {
      await run.remove()
      await rm(workspace, { recursive: true })
    }
  })
})
