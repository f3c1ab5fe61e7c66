import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runId } from '../../services/cli/run-options.ts'
import { withScratchRun } from '../../services/cli/scratch-run.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'astra-scratch-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const runs = () => readdirSync(join(home, 'runs'))
const makeFolder = (id: string) => mkdirSync(join(home, 'runs', id, 'base'), { recursive: true })

it('removes the folder of a verification, also when that fails', async () => {
  let used = ''
  const failing = withScratchRun(home, async (id) => {
    used = id
    makeFolder(id)
    expect(runs()).toEqual([id])
    throw new Error('as it happens')
  })
  await expect(failing).rejects.toThrow('as it happens')
  expect(used).toMatch(/^verify-/)
  expect(runs()).toEqual([])
})

it('removes what a killed command left a day ago, and nothing else', async () => {
  const left = 'verify-00000000-0000-4000-8000-000000000001'
  const underWay = 'verify-00000000-0000-4000-8000-000000000002'
  const mine = 'verify-login'
  for (const id of [left, underWay, mine]) makeFolder(id)
  const before = new Date(Date.now() - 25 * 3600 * 1000)
  for (const id of [left, mine]) utimesSync(join(home, 'runs', id), before, before)
  await withScratchRun(home, async (id) => makeFolder(id))
  expect(runs().sort()).toEqual([underWay, mine].sort())
})

it('needs no folder of runs', async () => {
  expect(await withScratchRun(home, async (id) => id)).toMatch(/^verify-/)
  expect(existsSync(join(home, 'runs'))).toBe(false)
})

it('has names that no run can have', async () => {
  await withScratchRun(home, async (id) => {
    expect(() => runId(id)).toThrow(/those of verifications/)
  })
  expect(runId('verify-login')).toBe('verify-login')
})
