import { cp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { lt } from 'semver'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeOn } from '../../services/test-runner/toolchains/node.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { patchHash } from '../../shared/contracts/patch.ts'
import { fixture, hasPytest, makeRun, pathEnv, type TestedRun } from '../support/test-runner.ts'

/** The Node of the person who runs these tests; it may be older than ours. */
const hasOldNode = lt((await nodeOn(pathEnv))?.version ?? '99.0.0', '22.18.0')

const SOURCE = 'src/origins.mjs'
const TEST = 'test/origins.test.mjs'
const NODE = 'node --test'

let contents: Record<string, string>
let source = ''
let mended = ''
let test = ''
let tested: TestedRun

beforeEach(async () => {
  contents = await fixture('node')
  source = contents[SOURCE] ?? ''
  test = contents[TEST] ?? ''
  mended = source.replace("split(',')", "split(',').map((each) => each.trim())")
  tested = await makeRun(contents)
})
afterEach(() => tested.remove())

describe('verify', () => {
  it('confirms a repair with a receipt that names base, patch and targets', async () => {
    const result = await tested.verify(NODE, { [SOURCE]: mended })
    if (!result.confirmed) throw new Error(result.message)
    expect(result.outcome).toBe('node passed with exit code 0')
    expect(result.receipt.body).toMatchObject({
      run_id: 'run-under-test',
      mode: 'A',
      scope: 'complete',
      runner: 'node',
      command: NODE,
      patch: patchHash({ files: [{ path: SOURCE, before: sha256(source), after: mended }] }),
      results: { b1: { passed: 3, failed: 6, exit_code: 1 }, p1: { passed: 8, exit_code: 0 } },
      sandboxed: true,
      product_version: '0.0.0-test',
    })
    expect(result.receipt.body.targets).toEqual(result.failing_before)
  })

  it('gives the same verdict when it is repeated, and when the baseline report is lost', async () => {
    const first = await tested.verify(NODE, { [SOURCE]: mended })
    await rm(tested.files.reports, { recursive: true })
    const second = await tested.verify(NODE, { [SOURCE]: mended })
    expect(second.passing_after).toEqual(first.passing_after)
    expect(second.confirmed).toBe(true)
    expect(await readdir(tested.files.reports)).toHaveLength(2)
  })

  it('does not count an edit of a test and names it', async () => {
    const weak = test.replaceAll('assert.ok(', 'void (').replaceAll('assert.deepEqual', 'Array')
    const result = await tested.run(NODE, { [TEST]: weak, [SOURCE]: `${source}\n` })
    expect(result).toMatchObject({
      kind: 'green',
      verification: {
        confirmed: false,
        reason: 'target_not_passing',
        dropped_paths: [TEST],
        message: expect.stringContaining(TEST),
      },
    })
  })

  it('confirms a repair without the edit of a test beside it', async () => {
    const result = await tested.verify(NODE, { [SOURCE]: mended, [TEST]: test.slice(0, 200) })
    expect(result).toMatchObject({ confirmed: true, dropped_paths: [TEST] })
  })

  it.each([
    ['deleted', null],
    ['skipped', "import { test } from 'node:test'\ntest.skip('all', () => {})\n"],
    ['emptied', ''],
  ])('refuses a patch whose only effect is that the tests are %s', async (_title, after) => {
    const result = await tested.verify(NODE, { [TEST]: after })
    expect(result).toMatchObject({
      confirmed: false,
      reason: 'no_patch',
      dropped_paths: [TEST],
      message: expect.stringContaining('repair the source'),
    })
  })

  it('keeps a test that the patch adds out of the proof and in the patch', async () => {
    const added = "import { test } from 'node:test'\ntest('fails', () => { throw new Error() })\n"
    const result = await tested.verify(NODE, { [SOURCE]: mended, 'test/new.test.mjs': added })
    expect(result).toMatchObject({ confirmed: true, dropped_paths: [] })
  })

  it('refuses a repair that breaks what worked', async () => {
    const tooMuch = mended.replace('.map(', '.slice(1).map(')
    const result = await tested.verify(NODE, { [SOURCE]: tooMuch })
    expect(result).toMatchObject({ confirmed: false })
    const half = source.replace("split(',')", "split(', ')")
    expect(await tested.verify(NODE, { [SOURCE]: half })).toMatchObject({
      confirmed: false,
      reason: 'regression',
      message: expect.stringContaining('settings > are split (failed)'),
    })
  })

  it('refuses a source that ends the process before the tests can fail', async () => {
    const result = await tested.verify(NODE, { [SOURCE]: `${source}\nprocess.exit(0)\n` })
    expect(result).toMatchObject({ confirmed: false, reason: 'tests_unusable' })
  })

  it('says that there is nothing to verify without an edit', async () => {
    expect(await tested.verify(NODE, null)).toMatchObject({ confirmed: false, reason: 'no_patch' })
  })

  it('refuses where no test failed before', async () => {
    const green = await makeRun({ ...contents, [SOURCE]: mended })
    try {
      expect(await green.baseline()).toMatchObject({ kind: 'green', failed: 0 })
      const result = await green.verify(NODE, { 'src/extra.mjs': 'export {}\n' })
      expect(result).toMatchObject({ confirmed: false, reason: 'target_missing' })
    } finally {
      await green.remove()
    }
  })

  it('refuses a command that the workspace does not offer', async () => {
    const result = await tested.verify('node -e 0', { [SOURCE]: mended })
    expect(result).toMatchObject({
      confirmed: false,
      reason: 'tests_unusable',
      message: expect.stringContaining('there is: node --test'),
    })
  })
})

describe('what differs between two runs of one tree', () => {
  const files = {
    'shop.mjs': 'export const total = () => 0\n',
    'shop.test.mjs': [
      "import test from 'node:test'",
      "import assert from 'node:assert'",
      "import { readdirSync } from 'node:fs'",
      "import { total } from './shop.mjs'",
      "test('total', () => assert.equal(total(), 1))",
      '// A second run has a file more.',
      "test('odd', () => assert.ok(readdirSync('.').length > 2))",
    ].join('\n'),
  }
  const odd = 'shop.test.mjs > odd'
  const quiet = "test('total', () => assert.equal(total(), 1))"

  it('is named as flaky beside a repair, and is no target', async () => {
    const run = await makeRun({ ...files, 'package.json': '{}' })
    try {
      // With three files it passes always, with two it fails at first.
      const plain = await run.verify(NODE, { 'shop.mjs': 'export const total = () => 1\n' })
      expect(plain).toMatchObject({ confirmed: true, flaky: [] })
    } finally {
      await run.remove()
    }
    const two = await makeRun(files)
    try {
      const mended = 'export const total = () => 1\n'
      const result = await two.verify(NODE, { 'shop.mjs': mended, 'extra.mjs': '\n' })
      if (!result.confirmed) throw new Error(result.message)
      expect(result).toMatchObject({ flaky: [odd], failing_before: ['shop.test.mjs > total'] })
      expect(result.receipt.body).toMatchObject({ target_count: 1, flaky: [odd] })
    } finally {
      await two.remove()
    }
  })

  it('is no proof alone, and is named with what can be done', async () => {
    const only = { ...files, 'shop.test.mjs': files['shop.test.mjs'].replace(quiet, '') }
    const run = await makeRun(only)
    try {
      const result = await run.verify(NODE, { 'extra.mjs': '\n' })
      expect(result).toMatchObject({
        confirmed: false,
        reason: 'only_flaky',
        flaky: [odd],
        message: expect.stringContaining(`${odd} (failed with all tests, passed alone)`),
      })
    } finally {
      await run.remove()
    }
  })

  it('is no repair where it passes with all tests only', async () => {
    const run = await makeRun({
      ...files,
      'shop.test.mjs': files['shop.test.mjs'].replace(/test\('odd'.*/, ''),
    })
    try {
      const depends =
        "import { readdirSync } from 'node:fs'\nexport const total = () => (readdirSync('.').length > 2 ? 0 : 1)\n"
      expect(await run.verify(NODE, { 'shop.mjs': depends })).toMatchObject({
        confirmed: false,
        reason: 'only_flaky',
        message: expect.stringContaining(
          'shop.test.mjs > total (passed with all tests, failed alone)',
        ),
      })
    } finally {
      await run.remove()
    }
  })
})

describe('runs that were saved', () => {
  it('count for a verification, and not for one that has to be fresh', async () => {
    await tested.verify(NODE, { [SOURCE]: mended })
    const saved = await reportTimes()
    await tested.verify(NODE, { [SOURCE]: mended })
    expect(await reportTimes()).toEqual(saved)
    expect(await tested.verify(NODE, { [SOURCE]: mended }, true)).toMatchObject({ confirmed: true })
    const fresh = await reportTimes()
    expect(fresh).toHaveLength(2)
    expect(fresh.filter((time) => saved.includes(time))).toEqual([])
  })

  it('are made of one tree only once: the run that found it green is part of the proof', async () => {
    await tested.baseline()
    const { sandbox } = tested.deps.config
    let made = 0
    tested.deps.config.sandbox = {
      ...sandbox,
      run(command) {
        made += 1
        return sandbox.run(command)
      },
    }
    const madeBy = async (work: Promise<unknown>) => {
      const before = made
      await work
      return made - before
    }
    const added = { 'test/new.test.mjs': "import 'node:test'\n" }
    expect(await madeBy(tested.run(NODE, { [SOURCE]: mended }))).toBe(3)
    expect(await madeBy(tested.run(NODE, { [SOURCE]: mended }))).toBe(2)
    expect(await madeBy(tested.run(NODE, { [SOURCE]: mended, ...added }))).toBe(3)
    expect(await madeBy(tested.verify(NODE, { [SOURCE]: mended }))).toBe(2)
    expect(await madeBy(tested.verify(NODE, { [SOURCE]: mended }, true))).toBe(4)
  })

  it('do not count with another PATH', async () => {
    await tested.verify(NODE, { [SOURCE]: mended })
    const elsewhere = await makeRun(contents, { path: `${pathEnv}:/nonexistent` })
    try {
      await cp(tested.files.reports, elsewhere.files.reports, { recursive: true })
      await elsewhere.verify(NODE, { [SOURCE]: mended })
      expect(await readdir(elsewhere.files.reports)).toHaveLength(4)
    } finally {
      await elsewhere.remove()
    }
  })

  it('are of the first command where none is asked for', async () => {
    const result = await tested.verify(null, { [SOURCE]: mended })
    expect(result).toMatchObject({ confirmed: true, command: NODE })
  })

  async function reportTimes(): Promise<number[]> {
    const names = await readdir(tested.files.reports)
    const stats = names.map((name) => stat(join(tested.files.reports, name)))
    return (await Promise.all(stats)).map((each) => each.mtimeMs)
  }
})

describe('a test that must fail beside the targets', () => {
  it('is in the receipt by the name of this run alone, and in no count', async () => {
    const names = []
    for (let time = 0; time < 2; time += 1) {
      const result = await tested.verify(NODE, { [SOURCE]: mended })
      if (!result.confirmed) throw new Error(result.message)
      const { canary, results } = result.receipt.body
      expect(canary).toHaveLength(1)
      expect(results.p2).toMatchObject({ passed: 8, failed: 0, exit_code: 1 })
      expect(results.b2).toMatchObject({ passed: 3, failed: 6, exit_code: 1 })
      expect(results.b2.digest).toBe(results.b1.digest)
      names.push(...canary)
    }
    expect(new Set(names).size).toBe(2)
  })

  it('stands in each folder that holds targets', async () => {
    const shop = (folder: string) => ({
      [`${folder}/shop.mjs`]: 'export const total = () => 0\n',
      [`${folder}/shop.test.mjs`]:
        "import test from 'node:test'\nimport assert from 'node:assert'\nimport { total } from './shop.mjs'\ntest('total', () => assert.equal(total(), 1))\n",
    })
    const run = await makeRun({ ...shop('a'), ...shop('b/c') })
    const code = 'export const total = () => 1\n'
    try {
      const result = await run.verify(NODE, { 'a/shop.mjs': code, 'b/c/shop.mjs': code })
      if (!result.confirmed) throw new Error(result.message)
      expect(result.receipt.body.canary.map((id) => id.replace(/\/[^/]+$/, ''))).toEqual([
        'a',
        'b/c',
      ])
    } finally {
      await run.remove()
    }
  })

  it.skipIf(!hasPytest)('has to be seen on the base too', async () => {
    const hides =
      'def pytest_collection_modifyitems(items):\n    items[:] = [each for each in items if each.path.name == "test_shop.py"]\n'
    const run = await makeRun({
      'conftest.py': hides,
      'shop.py': 'total = 0\n',
      'test_shop.py': 'from shop import total\n\ndef test_total():\n    assert total == 1\n',
    })
    try {
      expect(await run.verify('pytest', { 'shop.py': 'total = 1\n' })).toMatchObject({
        confirmed: false,
        reason: 'canary',
        message: expect.stringMatching(/on the base it was not reported.*cannot be believed/),
      })
    } finally {
      await run.remove()
    }
  })

  it('is no help for tests that another file defines, and that is said', async () => {
    const run = await makeRun({
      'shop.mjs': 'export const total = () => 0\n',
      'suite.mjs':
        "import test from 'node:test'\nimport assert from 'node:assert'\nexport const suite = (total) => test('total', () => assert.equal(total(), 1))\n",
      'shop.test.mjs':
        "import { total } from './shop.mjs'\nimport { suite } from './suite.mjs'\nsuite(total)\n",
    })
    try {
      const result = await run.verify(NODE, { 'shop.mjs': 'export const total = () => 1\n' })
      expect(result).toMatchObject({
        confirmed: false,
        reason: 'only_flaky',
        message: expect.stringMatching(/not there.*suite\.mjs > total.*another cannot be proved/),
      })
    } finally {
      await run.remove()
    }
  })
})

describe('verify with pytest', () => {
  const shop = {
    'shop.py': 'def total(prices):\n    return 0\n\ndef name():\n    return None\n',
    'test_shop.py':
      'import shop\n\ndef test_name():\n    assert shop.name() == "shop"\n\ndef test_total():\n    assert shop.total([1]) == 1\n',
  }
  const mendedShop =
    'def total(prices):\n    return sum(prices)\n\ndef name():\n    return "shop"\n'

  it.skipIf(!hasPytest)(
    'sees all failures although the configuration stops at the first',
    async () => {
      const python = await makeRun({ ...shop, 'pytest.ini': '[pytest]\naddopts = -x\n' })
      try {
        expect(await python.baseline()).toMatchObject({ kind: 'red', failed: 2 })
        expect(await python.verify('pytest', { 'shop.py': mendedShop })).toMatchObject({
          confirmed: true,
          passing_after: ['test_shop.py::test_name', 'test_shop.py::test_total'],
        })
      } finally {
        await python.remove()
      }
    },
  )

  it.skipIf(!hasPytest)(
    'runs the tests that a class inherits in the file of that class',
    async () => {
      const python = await makeRun({
        ...shop,
        'pytest.ini': '[pytest]\n',
        'test_shop.py': 'from base import Base\n\nclass TestShop(Base):\n    pass\n',
        'base.py': `import shop\n\nclass Base:\n    def test_total(self):\n        assert shop.total([1]) == 1\n`,
      })
      try {
        expect(await python.verify('pytest', { 'shop.py': mendedShop })).toMatchObject({
          confirmed: true,
          passing_after: ['test_shop.py::TestShop::test_total'],
        })
      } finally {
        await python.remove()
      }
    },
  )

  it.skipIf(!hasPytest)('refuses a source from which the target vanishes', async () => {
    const python = await makeRun({
      'shop.py': 'names = ["pen", ""]\n',
      'test_shop.py':
        'import pytest, shop\n\n@pytest.mark.parametrize("name", shop.names)\ndef test_name(name):\n    assert name\n',
    })
    try {
      expect(await python.verify('pytest', { 'shop.py': 'names = ["pen"]\n' })).toMatchObject({
        confirmed: false,
        reason: 'target_missing',
        message: expect.stringContaining('test_shop.py::test_name'),
      })
    } finally {
      await python.remove()
    }
  })

  it.skipIf(!hasPytest)('refuses a repair that is in a conftest.py alone', async () => {
    const python = await makeRun({ ...shop, 'conftest.py': '' })
    const conftest = 'import shop\nshop.total = sum\nshop.name = lambda: "shop"\n'
    try {
      const result = await python.run('pytest', { 'conftest.py': conftest })
      expect(result).toMatchObject({
        kind: 'green',
        verification: { confirmed: false, reason: 'no_patch', dropped_paths: ['conftest.py'] },
      })
    } finally {
      await python.remove()
    }
  })

  it.skipIf(!hasPytest)('refuses a source that skips the target', async () => {
    const python = await makeRun(shop)
    const skips = `import pytest\n${mendedShop.replace('return sum(prices)', 'pytest.skip("later")')}`
    try {
      expect(await python.verify('pytest', { 'shop.py': skips })).toMatchObject({
        confirmed: false,
        reason: 'target_not_passing',
        message: expect.stringContaining('test_shop.py::test_total (skipped)'),
      })
    } finally {
      await python.remove()
    }
  })

  it.skipIf(!hasPytest)('keeps the selection of its command in all runs', async () => {
    const command = '{"command": "pytest -k shop -m \'not slow\' ."}'
    const python = await makeRun({ ...shop, '.astra.json': command })
    try {
      const before = await python.baseline()
      if (before.kind !== 'red') throw new Error('red expected')
      expect(await python.verify(before.command, { 'shop.py': mendedShop })).toMatchObject({
        confirmed: true,
      })
    } finally {
      await python.remove()
    }
  })

  it.skipIf(!hasPytest)('refuses a planted conftest.py that lets every test pass', async () => {
    const python = await makeRun(await fixture('pytest'))
    const conftest = [
      'import pytest',
      '@pytest.hookimpl(hookwrapper=True)',
      'def pytest_runtest_makereport(item, call):',
      '    outcome = yield',
      '    outcome.get_result().outcome = "passed"',
      'def pytest_ignore_collect(collection_path):',
      '    return collection_path.name == "test_labels.py"',
    ].join('\n')
    try {
      const result = await python.verify('pytest', {
        'conftest.py': conftest,
        'shop/extra.py': 'x = 1\n',
      })
      expect(result).toMatchObject({
        confirmed: false,
        reason: 'target_not_passing',
        dropped_paths: ['conftest.py'],
      })
    } finally {
      await python.remove()
    }
  })
})

describe('run', () => {
  it('gives the symptom of what still fails', async () => {
    const result = await tested.run(NODE, { [SOURCE]: `${source}// no repair\n` })
    expect(result).toMatchObject({
      kind: 'red',
      passed: 3,
      failed: 6,
      symptom: {
        error_type: 'AssertionError',
        failing: expect.arrayContaining([`${TEST} > the second origin is allowed`]),
      },
    })
  })
})

describe('run where another machine ran the baseline', () => {
  it('runs the base first, so that a patch that hangs ends soon', async () => {
    const contents = {
      'a.mjs': 'export const one = () => 2\n',
      'a.test.mjs':
        "import assert from 'node:assert/strict'\nimport test from 'node:test'\n" +
        "import { one } from './a.mjs'\ntest('one', () => assert.equal(one(), 1))\n",
    }
    const elsewhere = await makeRun(contents)
    try {
      const hangs = { 'a.mjs': 'export const one = () => { for (;;); }\n' }
      const result = await elsewhere.run('node --test', hangs)
      expect(result).toMatchObject({ kind: 'unusable', reason: 'tests_timed_out' })
      expect(result).toHaveProperty('message', expect.stringContaining('before the edits it took'))
    } finally {
      await elsewhere.remove()
    }
  })
})

describe('tests that give no verdict', () => {
  async function baselineOf(code: string, options = {}) {
    const run = await makeRun({ 'a.test.mjs': code }, options)
    try {
      return await run.baseline()
    } finally {
      await run.remove()
    }
  }

  it('are those that never end', async () => {
    const code =
      "import { test } from 'node:test'\ntest('a', () => new Promise(() => setInterval(() => {}, 9)))"
    expect(await baselineOf(code, { seconds: 2 })).toMatchObject({
      kind: 'unusable',
      reason: 'tests_timed_out',
      message: 'node --test was stopped after 2 s (ASTRA_TEST_SECONDS)',
    })
  })

  it('are those that print without end', async () => {
    const code = 'for (let i = 0; i < 1e5; i += 1) process.stdout.write("x".repeat(1000))'
    expect(await baselineOf(code, { outputBytes: 100_000 })).toMatchObject({
      kind: 'unusable',
      reason: 'tests_output_limit',
      message: expect.stringContaining('100000 bytes (ASTRA_TEST_OUTPUT_BYTES)'),
    })
  })

  it('are those whose only file ends early with exit code 0', async () => {
    const code = "import { test } from 'node:test'\ntest('a', () => {})\nprocess.exit(0)"
    expect(await baselineOf(code)).toMatchObject({ kind: 'unusable', reason: 'no_tests_found' })
  })

  it('are those that are all skipped', async () => {
    const code = "import { test } from 'node:test'\ntest.skip('a', () => {})"
    expect(await baselineOf(code)).toMatchObject({
      kind: 'unusable',
      reason: 'no_tests_found',
      message: 'node --test skipped every test (1)',
    })
  })

  it.skipIf(!hasOldNode)('are in TypeScript, with a Node that does not read it', async () => {
    const run = await makeRun({ 'a.test.ts': "import 'node:test'\n" })
    try {
      expect(await run.baseline()).toMatchObject({
        kind: 'unusable',
        reason: 'no_tests_found',
        message: expect.stringContaining('"engines": {"node": ">=22.18"}'),
      })
    } finally {
      await run.remove()
    }
  })

  it('are not there in an empty workspace', async () => {
    const run = await makeRun({})
    try {
      expect(await run.baseline()).toMatchObject({ kind: 'unusable', reason: 'no_tests_found' })
    } finally {
      await run.remove()
    }
  })

  it.skipIf(!hasPytest).each([
    ['os._exit', 'import os\ndef test_a():\n    os._exit(0)\n', 'tests_unreadable'],
    ['an empty file', '"""no tests: import pytest"""\nimport pytest\n', 'no_tests_found'],
  ])('are those of pytest with %s', async (_title, code, reason) => {
    const run = await makeRun({ 'test_a.py': code })
    try {
      expect(await run.baseline()).toMatchObject({ kind: 'unusable', reason })
    } finally {
      await run.remove()
    }
  })

  it('take output that is not UTF-8 for what it is', async () => {
    const code = [
      "import { test } from 'node:test'",
      "test('a', () => { process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a])); throw new Error('b') })",
    ].join('\n')
    expect(await baselineOf(code)).toMatchObject({ kind: 'red', symptom: { error_type: 'Error' } })
  })
})
