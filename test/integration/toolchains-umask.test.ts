import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { delimiter, dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Folder, openFolder } from '../support/real-folders.ts'
import { makeRun, pathEnv } from '../support/test-runner.ts'

const isRoot = process.getuid?.() === 0
const text = (statements: string) =>
  `require('node:test')('looks', () => { ${statements}; throw new Error('looked') })`

let folder: Folder
let before = 0

beforeEach(async () => {
  before = process.umask(0o077)
  folder = await openFolder()
})
afterEach(async () => {
  process.umask(before)
  await folder.remove()
})

async function baselineOf(statements: string, path: string) {
  const tested = await makeRun({ 'a.test.cjs': text(statements) }, { path })
  try {
    return await tested.baseline()
  } finally {
    await tested.remove()
  }
}

describe('under umask 077', () => {
  it('runs tests, which can read what the sandbox gives them', async () => {
    const reads = "console.log(require('node:fs').readFileSync('/etc/passwd', 'utf8'))"
    const result = await baselineOf(reads, pathEnv)
    if (result.kind !== 'red') throw new Error(JSON.stringify(result))
    expect(result.output).toContain('tests:x:')
    expect(result.output).toContain('looked')
  })

  it.runIf(isRoot)('says of a toolchain for its owner alone what is the matter', async () => {
    const node = folder.at('bin/node')
    await mkdir(dirname(node))
    await copyFile(process.execPath, node)
    await chmod(node, 0o700)
    const result = await baselineOf('', [dirname(node), pathEnv].join(delimiter))
    expect(result).toMatchObject({
      kind: 'unusable',
      reason: 'runner_missing',
      message: expect.stringMatching(
        /Permission denied: toolchains and dependencies have to be readable by others$/,
      ),
    })
  })
})
