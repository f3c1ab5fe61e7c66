import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeRun } from '../support/test-runner.ts'

let folder: string
let modules: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-modules-'))
  // An = in a path must not make it a variable.
  modules = join(folder, 'shop=1', 'node_modules')
  await mkdir(join(modules, '.bin'), { recursive: true })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function baselineWith(mode: number) {
  await writeFile(join(modules, '.bin', 'jest'), '#!/bin/sh\necho started\n', { mode })
  const tested = await makeRun(
    { 'package.json': '{ "scripts": { "test": "jest" } }' },
    { workspace: join(folder, 'shop=1'), links: [{ path: 'node_modules', target: modules }] },
  )
  try {
    return await tested.baseline()
  } finally {
    await tested.remove()
  }
}

it('says of a program that cannot be started that it did not start', async () => {
  expect(await baselineWith(0o644)).toMatchObject({
    kind: 'unusable',
    reason: 'runner_missing',
    message: expect.stringMatching(/^jest did not start: .*Permission denied/),
  })
})

it('starts a program whose path has an = in it', async () => {
  expect(await baselineWith(0o755)).toMatchObject({ kind: 'unusable', output: 'started' })
})
