import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { verify } from '../../services/test-runner/handlers/verify.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { savePatch } from '../../shared/run-files.ts'
import { makeRun, pathEnv, type TestedRun } from '../support/test-runner.ts'

const contents = {
  'package.json': '{"type": "module", "scripts": {"test": "node --test"}}',
  'a.js': 'export const a = 1\n',
  'a.test.js':
    "import assert from 'node:assert'\nimport test from 'node:test'\nimport { a } from './a.js'\n" +
    "test('is two', () => assert.equal(a, 2))\n",
}

let tested: TestedRun
let patch: string
beforeEach(async () => {
  tested = await makeRun(contents)
  const after = 'export const a = 2\n'
  patch = await savePatch(tested.files, {
    files: [{ path: 'a.js', before: sha256(contents['a.js']), after }],
  })
})
afterEach(() => tested.remove())

const asked = () => ({ run_id: 'run-under-test', path_env: pathEnv, patch })

describe('a verification without a command', () => {
  it('uses the first that the workspace offers', async () => {
    const result = await verify({ ...asked(), command: null, fresh: true }, tested.deps)
    expect(result).toMatchObject({ confirmed: true, command: 'node --test' })
  })

  it('is refused where the workspace offers none', async () => {
    const bare = await makeRun({ 'a.js': '' })
    const result = await verify({ ...asked(), command: null }, bare.deps)
    await bare.remove()
    expect(result).toMatchObject({ confirmed: false, reason: 'tests_unusable', command: '' })
  })
})

describe('a saved baseline in which no test failed', () => {
  /** As a baseline would be that somebody wrote there. */
  beforeEach(async () => {
    await tested.baseline('node --test')
    const [name = ''] = await readdir(tested.files.reports)
    const file = join(tested.files.reports, name)
    const text = await readFile(file, 'utf8')
    await writeFile(
      file,
      text.replaceAll('"failed"', '"passed"').replace('"exitCode":1', '"exitCode":0'),
    )
  })

  it('counts in a verification of the run itself', async () => {
    const result = await verify({ ...asked(), command: 'node --test' }, tested.deps)
    expect(result).toMatchObject({ confirmed: false, failing_before: [] })
  })

  it.each(['node --test', null])('does not count in a fresh one (command %s)', async (command) => {
    const result = await verify({ ...asked(), command, fresh: true }, tested.deps)
    expect(result).toMatchObject({ confirmed: true, failing_before: ['a.test.js > is two'] })
  })
})
