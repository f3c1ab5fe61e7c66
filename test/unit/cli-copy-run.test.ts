import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyRun } from '../../services/cli/copy-run.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { loadPatch, runFiles, savePatch } from '../../shared/run-files.ts'
import { readManifest } from '../../shared/workspace.ts'
import { sampleView } from '../support/run-view.ts'
import { writeSnapshot } from '../support/test-runner.ts'

const contents = { 'src/a.js': 'a\n', 'run.sh': 'b\n' }
const patch = { files: [{ path: 'src/a.js', before: sha256('a\n'), after: 'A\n' }] }

let home: string
let hash: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-copy-'))
  await mkdir(join(home, 'deps'))
  const links = [{ path: 'node_modules', target: join(home, 'deps') }]
  await writeSnapshot(home, 'run-a', contents, { links })
  hash = await savePatch(runFiles(home, 'run-a'), patch)
})
afterEach(() => rm(home, { recursive: true, force: true }))

const from = () => runFiles(home, 'run-a')
const copy = (changes: Partial<RunView> = {}) =>
  copyRun(home, sampleView({ patch_hash: hash, ...changes }), 'copy')
const contentsOf = async (folder: string) => {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile())
  const read = files.map(async ({ parentPath, name }) => [
    join(parentPath, name).slice(folder.length + 1),
    await readFile(join(parentPath, name), 'utf8'),
  ])
  return Object.fromEntries(await Promise.all(read))
}

it('copies snapshot and patch of a run, also of one that was not fixed, and leaves it as it is', async () => {
  const before = await contentsOf(from().dir)
  expect(await copy({ status: 'not_fixed' })).toMatchObject({ patch: hash })
  const to = runFiles(home, 'copy')
  expect(await contentsOf(to.base)).toEqual(contents)
  expect(await readManifest(to)).toEqual(await readManifest(from()))
  expect(await loadPatch(to, hash)).toEqual(patch)
  expect(await contentsOf(from().dir)).toEqual(before)
})

it('does not take the saved baseline along', async () => {
  await mkdir(from().reports)
  await writeFile(join(from().reports, 'baseline.json'), '{}')
  await copy()
  expect(await readdir(runFiles(home, 'copy').dir)).not.toContain('reports')
})

describe('refuses, by name,', () => {
  it('a run that has not ended', () =>
    expect(copy({ status: 'running' })).rejects.toThrow(/run-a has not ended/))

  it('a run without a patch, and says what was dropped', () =>
    expect(copy({ patch_hash: null, dropped_paths: ['a.test.js'] })).rejects.toThrow(
      /run-a is not_fixed and has no patch.*a\.test\.js/,
    ))

  it('a file that was altered or is gone', async () => {
    await writeFile(join(from().base, 'run.sh'), 'c\n')
    await expect(copy()).rejects.toMatchObject({
      code: 'snapshot_altered',
      message: expect.stringContaining('run.sh was altered'),
    })
    await rm(join(from().base, 'run.sh'))
    await rm(runFiles(home, 'copy').dir, { recursive: true, force: true })
    await expect(copy()).rejects.toThrow(/run\.sh is gone/)
  })

  it('a list of files that leads outside', async () => {
    const manifest = await readFile(from().manifest, 'utf8')
    await writeFile(from().manifest, manifest.replace('run.sh', '../../outside'))
    await expect(copy()).rejects.toThrow(/leaves the workspace/)
  })

  it('a lost snapshot and a lost or altered patch', async () => {
    const file = join(from().patches, `${hash}.json`)
    await writeFile(file, (await readFile(file, 'utf8')).replace('A', 'B'))
    await expect(copy()).rejects.toMatchObject({ code: 'patch_lost' })
    await rm(runFiles(home, 'copy').dir, { recursive: true })
    await rm(from().manifest)
    await expect(copy()).rejects.toMatchObject({ code: 'snapshot_lost' })
  })

  it('dependencies that are gone', async () => {
    await rm(join(home, 'deps'), { recursive: true })
    await expect(copy()).rejects.toMatchObject({
      code: 'dependencies_gone',
      message: expect.stringContaining(join(home, 'deps')),
      hint: expect.stringContaining('node_modules'),
    })
  })
})
