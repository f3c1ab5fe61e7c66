import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeTestFolder, type TestFolder } from '../../services/test-runner/copy/test-folder.ts'
import { testEnvironment } from '../../services/test-runner/run/environment.ts'
import { unsandboxed } from '../../services/test-runner/sandbox/unsandboxed.ts'
import { nodeToolchain } from '../../services/test-runner/toolchains/node.ts'
import { readManifest } from '../../shared/workspace.ts'
import { makeRun, pathEnv, type TestedRun } from '../support/test-runner.ts'

let tested: TestedRun
let folder: TestFolder

beforeEach(async () => {
  process.env.OPENAI_API_KEY = 'sk-secret'
  process.env.NODE_ENV = 'test'
  tested = await makeRun({ 'a.js': '' })
  const { home, files } = tested
  const manifest = await readManifest(files)
  const sandbox = unsandboxed(home)
  folder = await makeTestFolder({ home, files, manifest, patch: null, sandbox })
})
afterEach(async () => {
  delete process.env.OPENAI_API_KEY
  await folder.remove()
  await tested.remove()
})

async function environment(nodeRange: string | null = null, path = pathEnv) {
  const { files } = tested
  const manifest = await readManifest(files)
  const toolchain = await nodeToolchain({
    base: files.base,
    manifest,
    pathEnv: path,
    nodeRange,
    guarded: [homedir()],
    goCache: '/cache',
  })
  const bins = [join(folder.copy, 'node_modules', '.bin')]
  const { layout } = folder
  return testEnvironment({ layout, toolchain, pathEnv, pythonPath: [], bins, usesPackages: true })
}

describe('testEnvironment', () => {
  it("holds nothing of this process's secrets and test settings", async () => {
    const env = await environment()
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
    expect(env).toMatchObject({ CI: '1' })
  })

  it("has a home and a temporary folder of the run's own", async () => {
    const env = await environment()
    expect(env.HOME).toBe(join(folder.root, 'home'))
    expect(env.TMPDIR).toBe(join(folder.root, 'tmp'))
  })

  it("finds the workspace's own programs first, then the person's", async () => {
    const path = (await environment()).PATH?.split(delimiter) ?? []
    expect(path[0]).toBe(join(folder.copy, 'node_modules', '.bin'))
    expect(path.slice(2).join(delimiter)).toBe(pathEnv)
  })

  it("has our Node only where the workspace excludes the person's and allows ours", async () => {
    const ours = dirname(process.execPath)
    const theirs = join(tested.home, 'node')
    await writeFile(theirs, `#!/bin/sh\necho '["v2.0.0", "${theirs}"]'\n`, { mode: 0o755 })
    const folders = async (range: string) =>
      (await environment(range, tested.home)).PATH.split(delimiter)
    expect((await folders('>=1'))[1]).toBe(tested.home)
    expect((await folders('<1'))[1]).toBe(tested.home)
    expect((await folders(process.version))[1]).toBe(ours)
  })
})

describe('a test folder', () => {
  it('is removed with everything in it', async () => {
    await folder.remove()
    await expect(readdir(folder.root)).rejects.toThrow('ENOENT')
  })

  it.skipIf(process.getuid?.() === 0)('is removed when tests made it read-only', async () => {
    await mkdir(join(folder.root, 'tmp', 'locked', 'deep'), { recursive: true })
    await chmod(join(folder.root, 'tmp', 'locked'), 0o500)
    await folder.remove()
    await expect(readdir(folder.root)).rejects.toThrow('ENOENT')
  })

  it('is named as the workspace is, because some projects import themselves by name', () => {
    expect(folder.copy.endsWith('/shop')).toBe(true)
  })
})
