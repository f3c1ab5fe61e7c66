import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeRun, type TestedRun } from '../support/test-runner.ts'

let folder: string
let before: string | undefined
let run: TestedRun | undefined

beforeEach(async () => {
  before = process.env.TMPDIR
  folder = await mkdtemp(join(tmpdir(), 'astra-private-'))
  await chmod(folder, 0o700)
  process.env.TMPDIR = folder
})
afterEach(async () => {
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  await run?.remove()
  await rm(folder, { recursive: true, force: true })
})

it('tests run although the temporary folder is one that no other uid may enter', async () => {
  run = await makeRun({ 'a.test.mjs': "import test from 'node:test'\ntest('a', () => {})\n" })
  expect(await run.baseline()).toMatchObject({ kind: 'green', passed: 1 })
})
