import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { applyRun, wasApplied } from '../../services/cli/apply-run.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { runFiles, savePatch } from '../../shared/run-files.ts'
import { sampleView } from '../support/run-view.ts'

let folder: string
let home: string
let workspace: string
let hash: string

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'astra-apply-run-')))
  home = join(folder, 'home')
  workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'a.js'), 'old')
  const patch = { files: [{ path: 'a.js', before: sha256('old'), after: 'new' }] }
  hash = await savePatch(runFiles(home, 'run-a'), patch)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('applies the patch of a run that ended fixed, and keeps that it did', async () => {
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  expect(wasApplied(home, 'run-a')).toBe(false)
  expect(await applyRun(home, view, workspace)).toEqual({ applied: true })
  expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('new')
  expect(wasApplied(home, 'run-a')).toBe(true)
})

it.each(['running', 'not_fixed', 'limit_reached', 'cancelled'] as const)(
  'refuses the patch of a run that is %s',
  async (status) => {
    const view = sampleView({ status, patch_hash: hash })
    await expect(applyRun(home, view, workspace)).rejects.toThrow(/no verified patch to apply/)
    expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('old')
  },
)

it('does not count as applied when the workspace had changed', async () => {
  writeFileSync(join(workspace, 'a.js'), 'mine')
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  expect(await applyRun(home, view, workspace)).toEqual({ applied: false, changed: ['a.js'] })
  expect(wasApplied(home, 'run-a')).toBe(false)
})

it('does not apply a patch file that was altered since it was verified', async () => {
  const file = join(runFiles(home, 'run-a').patches, `${hash}.json`)
  writeFileSync(file, readFileSync(file, 'utf8').replace('new', 'evil'))
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  await expect(applyRun(home, view, workspace)).rejects.toThrow(/was altered/)
  expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('old')
})
