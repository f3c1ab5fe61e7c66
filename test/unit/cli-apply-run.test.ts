import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withApplyLock } from '../../services/cli/patch/apply-lock.ts'
import { applyRun, cutOff, wasApplied } from '../../services/cli/patch/apply-run.ts'
import { takeSnapshot } from '../../services/cli/snapshot/snapshot.ts'
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
  writeFileSync(join(workspace, 'b.js'), 'b')
  await takeSnapshot({ home, runId: 'run-a', workspace })
  const patch = { files: [{ path: 'a.js', before: sha256('old'), after: 'new' }] }
  hash = await savePatch(runFiles(home, 'run-a'), patch)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('applies the patch of a run that ended fixed, and keeps that it did', async () => {
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  expect(wasApplied(home, 'run-a')).toBe(false)
  const result = await applyRun(home, view, workspace, 'refuse')
  expect(result).toEqual({ applied: true, besides: [] })
  expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('new')
  expect(wasApplied(home, 'run-a')).toBe(true)
  expect(cutOff(home, 'run-a')).toBe(null)
})

it.each([
  ['was changed', () => writeFileSync(join(workspace, 'b.js'), 'mine')],
  ['was deleted', () => rmSync(join(workspace, 'b.js'))],
])('does not apply by itself when another file of the snapshot %s', async (_, change) => {
  change()
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  const refused = { applied: false, changed: ['b.js'], done: [] }
  expect(await applyRun(home, view, workspace, 'refuse')).toEqual(refused)
  expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('old')
  const asked = await applyRun(home, view, workspace, 'report')
  expect(asked).toEqual({ applied: true, besides: ['b.js'] })
  expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('new')
})

it('applies beside files that are new since the snapshot', async () => {
  writeFileSync(join(workspace, 'c.js'), 'mine')
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  expect(await applyRun(home, view, workspace, 'refuse')).toMatchObject({ applied: true })
})

it('says of a run that its apply was cut off, until it is completed', async () => {
  const patch = {
    files: [
      { path: 'a.js', before: sha256('old'), after: 'new' },
      { path: 'b.js', before: sha256('b'), after: 'new b' },
    ],
  }
  hash = await savePatch(runFiles(home, 'run-a'), patch)
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  writeFileSync(join(workspace, 'a.js'), 'new')
  writeFileSync(join(workspace, 'b.js'), 'mine')
  const half = { applied: false, changed: ['b.js'], done: ['a.js'] }
  expect(await applyRun(home, view, workspace, 'report')).toEqual(half)
  expect(cutOff(home, 'run-a')).toMatch(/begun and cut off/)
  writeFileSync(join(workspace, 'b.js'), 'b')
  expect(await applyRun(home, view, workspace, 'report')).toMatchObject({ applied: true })
  expect(cutOff(home, 'run-a')).toBe(null)
})

it.each(['running', 'not_fixed', 'limit_reached', 'cancelled'] as const)(
  'refuses the patch of a run that is %s',
  async (status) => {
    const view = sampleView({ status, patch_hash: hash })
    await expect(applyRun(home, view, workspace, 'report')).rejects.toThrow(
      /no verified patch to apply/,
    )
    expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('old')
  },
)

it('does not count as applied when the workspace had changed', async () => {
  writeFileSync(join(workspace, 'a.js'), 'mine')
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  const refused = { applied: false, changed: ['a.js'], done: [] }
  expect(await applyRun(home, view, workspace, 'report')).toEqual(refused)
  expect(cutOff(home, 'run-a')).toBe(null)
  expect(wasApplied(home, 'run-a')).toBe(false)
})

it('does not apply a patch file that was altered since it was verified', async () => {
  const file = join(runFiles(home, 'run-a').patches, `${hash}.json`)
  writeFileSync(file, readFileSync(file, 'utf8').replace('new', 'evil'))
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  await expect(applyRun(home, view, workspace, 'report')).rejects.toThrow(/was altered/)
  expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('old')
})

it('applies one patch at a time to a workspace, and to another one meanwhile', async () => {
  const view = sampleView({ status: 'fixed', patch_hash: hash })
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere)
  for (const name of ['a.js', 'b.js']) {
    writeFileSync(join(elsewhere, name), readFileSync(join(workspace, name)))
  }
  await withApplyLock(home, workspace, async () => {
    const second = applyRun(home, view, workspace, 'report')
    await expect(second).rejects.toThrow(/another patch is being applied to .*workspace/)
    expect(readFileSync(join(workspace, 'a.js'), 'utf8')).toBe('old')
    expect(await applyRun(home, view, elsewhere, 'report')).toMatchObject({ applied: true })
  })
  expect(await applyRun(home, view, workspace, 'report')).toMatchObject({ applied: true })
})
