import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runFiles } from '../../shared/run-files.ts'
import { materialise, readManifest } from '../../shared/workspace.ts'
import { writeSnapshot } from '../support/test-runner.ts'

let root = ''
let workspace = ''
let copy = ''

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'astra-workspace-')))
  workspace = join(root, 'shop')
  copy = join(root, 'copy')
  await mkdir(join(workspace, 'packages', 'prices'), { recursive: true })
  await mkdir(join(workspace, 'node_modules', '@shop'), { recursive: true })
  await mkdir(join(workspace, 'node_modules', 'left-pad'))
  await mkdir(join(workspace, 'node_modules', '.vite'))
  await mkdir(join(workspace, 'node_modules', '.bin'))
  await writeFile(join(workspace, 'node_modules', 'left-pad', 'index.js'), 'theirs')
  await symlink('../../packages/prices', join(workspace, 'node_modules', '@shop', 'prices'))
  await symlink('../packages/prices', join(workspace, 'node_modules', 'prices'))
  const links = [{ path: 'node_modules', target: join(workspace, 'node_modules') }]
  await writeSnapshot(root, 'run-a', { 'packages/prices/index.js': 'base' }, { links, workspace })
  const files = runFiles(root, 'run-a')
  await materialise(files, await readManifest(files), copy)
})
afterEach(() => rm(root, { recursive: true }))

const linked = (...path: string[]) => realpath(join(copy, 'node_modules', ...path))

describe('materialise', () => {
  it('copies the files of the base', async () => {
    expect(await readFile(join(copy, 'packages/prices/index.js'), 'utf8')).toBe('base')
  })

  it("links dependencies where the person has them, in a folder of the copy's own", async () => {
    expect(await linked('left-pad')).toBe(join(workspace, 'node_modules', 'left-pad'))
    expect(await linked()).toBe(join(copy, 'node_modules'))
  })

  it("links the workspace's own packages to those of the copy", async () => {
    expect(await linked('prices')).toBe(join(copy, 'packages', 'prices'))
    expect(await linked('@shop', 'prices')).toBe(join(copy, 'packages', 'prices'))
  })

  it('leaves out what tools cache between runs', async () => {
    expect((await readdir(join(copy, 'node_modules'))).sort()).toEqual([
      '.bin',
      '@shop',
      'left-pad',
      'prices',
    ])
  })
})
