import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { outcomeLine } from '../../shared/contracts/receipt.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import { receiptProblem } from '../../shared/receipt.ts'
import {
  fixture,
  hasCargo,
  hasGo,
  hasPytest,
  hasPython,
  makeRun,
  scriptRunners,
  type TestedRun,
  useWarmGoCache,
} from '../support/test-runner.ts'

let tested: TestedRun | undefined

afterEach(async () => {
  await tested?.remove()
  tested = undefined
})

async function idsByStatus(run: TestedRun) {
  const [name = ''] = await readdir(run.files.reports)
  const text = await readFile(join(run.files.reports, name), 'utf8')
  const { tests }: { tests: { id: string; status: string }[] } = JSON.parse(text)
  const ids = (status: string) => tests.filter((test) => test.status === status).map((t) => t.id)
  return { passed: ids('passed'), failed: ids('failed'), skipped: ids('skipped') }
}

/** A confirmed verification whose receipt the installation itself believes. */
async function expectConfirmed(run: TestedRun, command: string, edits: Record<string, string>) {
  const result = await run.run(command, edits)
  if (result.kind !== 'green') throw new Error(JSON.stringify(result, null, 2))
  const { verification } = result
  if (!verification.confirmed) throw new Error(verification.message)
  expect(receiptProblem(verification.receipt, loadTrustedKeys(run.home))).toBeNull()
  return verification
}

const nodes = [
  ['the Node of the person', {}],
  ['our own Node, which the workspace asks for', { 'package.json': '{"engines":{"node":">=24"}}' }],
] as const

describe.each(nodes)('node --test with %s', (_title, extra) => {
  it('reports suites, repeated names, hooks and skipped tests, and proves a repair', async () => {
    tested = await makeRun({ ...(await fixture('node')), ...extra })
    const before = await tested.baseline()
    expect(before).toMatchObject({ kind: 'red', commands: ['node --test'], passed: 3, failed: 6 })
    expect(await idsByStatus(tested)).toEqual({
      passed: [
        'test/origins.test.mjs > the first origin is allowed',
        'test/origins.test.mjs > same name',
        'test/origins.test.mjs > settings > are split',
      ],
      failed: [
        'test/origins.test.mjs > the second origin is allowed',
        'test/origins.test.mjs > same name #2',
        'test/origins.test.mjs > settings > with a hook > are ready',
        'hook:test/origins.test.mjs > settings > with a hook',
        'test/origins.test.mjs > parent > child',
        'test/origins.test.mjs > parent',
      ],
      skipped: [
        'test/origins.test.mjs > settings > are validated',
        'test/origins.test.mjs > settings > are cached',
      ],
    })
    if (before.kind !== 'red') throw new Error('red expected')
    expect(before.symptom).toMatchObject({ error_type: 'AssertionError', language: 'javascript' })
    expect(before.symptom.normalised).toContain('the second origin is allowed')
    expect(before.output).not.toContain(tested.home)

    const source = (await fixture('node'))['src/origins.mjs'] ?? ''
    const mended = source.replace("split(',')", "split(',').map((each) => each.trim())")
    const verification = await expectConfirmed(tested, 'node --test', { 'src/origins.mjs': mended })
    expect(verification.outcome).toBe(outcomeLine('node'))
    expect(verification.passing_after).toEqual(before.symptom.failing)
  })
})

describe('pytest', () => {
  it.skipIf(!hasPytest)(
    'reports classes, parameters and files that do not load, and proves a repair',
    async () => {
      tested = await makeRun(await fixture('pytest'))
      const before = await tested.baseline()
      expect(before).toMatchObject({ kind: 'red', commands: ['pytest'], passed: 4, failed: 3 })
      expect(await idsByStatus(tested)).toEqual({
        passed: [
          'tests/test_prices.py::test_whole_price',
          'tests/test_prices.py::test_price_with_spaces[12]',
          'tests/test_prices.py::TestTotal::test_of_nothing',
          'tests/test_prices.py::OldStyleTest::test_start',
        ],
        failed: [
          'tests/test_prices.py::test_price_with_spaces[1 000]',
          'tests/test_prices.py::TestTotal::test_of_prices_with_spaces',
          'file:tests/test_labels.py',
        ],
        skipped: [
          'tests/test_prices.py::test_skipped',
          'tests/test_prices.py::test_expected_failure',
        ],
      })
      if (before.kind !== 'red') throw new Error('red expected')
      expect(before.symptom).toMatchObject({ error_type: 'ValueError', language: 'python' })

      const verification = await expectConfirmed(tested, 'pytest', await pythonRepair())
      expect(verification.outcome).toBe(outcomeLine('pytest'))
      expect(verification.passing_after).toHaveLength(3)
    },
  )
})

describe('unittest', () => {
  it.skipIf(!hasPython)(
    'reports subtests, class hooks and files that do not load, and proves a repair',
    async () => {
      tested = await makeRun(await fixture('unittest'))
      const before = await tested.baseline()
      expect(before).toMatchObject({ kind: 'red', commands: ['python -m unittest'] })
      expect(await idsByStatus(tested)).toEqual({
        passed: ['tests/test_prices.py::TestPrices::test_whole_price'],
        failed: [
          'tests/test_prices.py::TestPrices::test_prices_with_spaces',
          'hook:tests/test_prices.py::TestTotals::setUpClass',
          'file:tests/test_labels.py',
        ],
        skipped: [
          'tests/test_prices.py::TestPrices::test_expected_failure',
          'tests/test_prices.py::TestPrices::test_skipped',
        ],
      })
      const verification = await expectConfirmed(tested, 'python -m unittest', await pythonRepair())
      expect(verification.outcome).toBe(outcomeLine('unittest'))
    },
  )

  it.skipIf(!hasPython)('looks into a test folder that is no package', async () => {
    const { 'tests/__init__.py': _, ...contents } = await fixture('unittest')
    tested = await makeRun(contents)
    const before = await tested.baseline()
    expect(before).toMatchObject({ kind: 'red', command: 'python -m unittest discover -s tests' })
    expect((await idsByStatus(tested)).failed).toContain('file:tests/test_labels.py')
    const command = 'python -m unittest discover -s tests'
    await expectConfirmed(tested, command, await pythonRepair())
  })

  it.skipIf(!hasPython)('proves a repair where its command names the test modules', async () => {
    const command = 'python -m unittest -f tests.test_prices tests/test_labels.py'
    const astra = { '.astra.json': JSON.stringify({ command }) }
    tested = await makeRun({ ...(await fixture('unittest')), ...astra })
    const before = await tested.baseline()
    if (before.kind !== 'red') throw new Error('red expected')
    expect(before).toMatchObject({ failed: 3 })
    await expectConfirmed(tested, before.command, await pythonRepair())
  })
})

async function pythonRepair(): Promise<Record<string, string>> {
  const prices = (await fixture('pytest'))['shop/prices.py'] ?? ''
  return {
    'shop/prices.py': prices.replace('int(text)', 'int(text.replace(" ", ""))'),
    'shop/labels.py': 'def label(price):\n    return f"{price} EUR"\n',
  }
}

describe('vitest', () => {
  it('reports repeated names and files that do not load, and proves a repair', async () => {
    const links = [{ path: 'node_modules', target: join(productRoot, 'node_modules') }]
    tested = await makeRun(await fixture('vitest'), { links })
    const before = await tested.baseline()
    expect(before).toMatchObject({ kind: 'red', commands: ['vitest'] })
    expect(await idsByStatus(tested)).toEqual({
      passed: [
        'src/tags.test.ts > one tag',
        'src/tags.test.ts > same name',
        'src/tags.test.ts > tags > of nothing',
      ],
      failed: ['src/tags.test.ts > same name #2', 'file:src/label.test.ts'],
      skipped: ['src/tags.test.ts > tags > skipped', 'src/tags.test.ts > tags > later'],
    })
    const verification = await expectConfirmed(tested, 'vitest', {
      'src/tags.ts':
        "export const parseTags = (text: string) => text.split(',').map((tag) => tag.trim())\n",
      'src/label.ts': "export const label = (tag: string) => '#'.concat(tag)\n",
    })
    expect(verification.outcome).toBe(outcomeLine('vitest'))
  })

  it('sees all failures although its configuration stops at the first', async () => {
    const links = [{ path: 'node_modules', target: join(productRoot, 'node_modules') }]
    const test = (name: string) =>
      `import { expect, test } from 'vitest'\nimport { total } from './total'\ntest('${name}', () => { expect(total()).toBe(1) })\n`
    const contents = {
      'package.json': '{"type":"module","devDependencies":{"vitest":"*"}}',
      'vitest.config.ts': 'export default { test: { bail: 1 } }\n',
      'src/total.ts': 'export const total = () => 0\n',
      'src/a.test.ts': test('a'),
      'src/b.test.ts': test('b'),
    }
    tested = await makeRun(contents, { links })
    expect(await tested.baseline()).toMatchObject({ kind: 'red', failed: 2 })
    const edits = { 'src/total.ts': 'export const total = () => 1\n' }
    const { passing_after } = await expectConfirmed(tested, 'vitest', edits)
    expect(passing_after).toHaveLength(2)
  })

  it.each([
    ['vitest', 'vitest'],
    ['jest', 'jest'],
    ['mocha', 'mocha'],
  ])('says that %s is not installed instead of finding another one', async (name, command) => {
    const contents = { 'package.json': JSON.stringify({ devDependencies: { [name]: '*' } }) }
    tested = await makeRun(contents)
    expect(await tested.baseline(command)).toMatchObject({
      kind: 'unusable',
      reason: 'runner_missing',
      message: expect.stringContaining('npm install'),
    })
  })
})

describe('jest and mocha', () => {
  const links = [{ path: 'node_modules', target: scriptRunners }]
  const shop = 'exports.total = () => 0\nexports.name = () => null\n'
  const mended = "exports.total = () => 1\nexports.name = () => 'shop'\n"

  it('prove a repair with jest, although its configuration stops at the first failure', async () => {
    tested = await makeRun(
      {
        'package.json': '{"devDependencies":{"jest":"*"},"jest":{"bail":1}}',
        'src/shop.js': shop,
        'src/__tests__/shop.js':
          "const shop = require('../shop')\ndescribe('shop', () => {\n  test('total', () => expect(shop.total()).toBe(1))\n  test('name', () => expect(shop.name()).toBe('shop'))\n})\n",
        'src/other.test.js': "test('other', () => {})\n",
      },
      { links },
    )
    expect(await tested.baseline()).toMatchObject({ kind: 'red', passed: 1, failed: 2 })
    const { receipt } = await expectConfirmed(tested, 'jest', { 'src/shop.js': mended })
    expect(receipt.body).toMatchObject({
      targets: ['src/__tests__/shop.js > shop > total', 'src/__tests__/shop.js > shop > name'],
      results: { p1: { passed: 3 }, p2: { passed: 2, failed: 0 } },
    })
  })

  it('prove a repair with mocha, although its configuration stops there and names more files', async () => {
    const test = (name: string, value: string) =>
      `  it('${name}', () => assert.equal(shop.${name}(), ${value}))\n`
    tested = await makeRun(
      {
        'package.json': '{"devDependencies":{"mocha":"*"}}',
        '.mocharc.json': '{"spec":["checks/**/*.js"],"bail":true}',
        'shop.js': shop,
        'checks/shop.js': `const assert = require('assert')\nconst shop = require('../shop')\ndescribe('shop', () => {\n${test('total', '1')}${test('name', "'shop'")}})\n`,
        'checks/more/other.js': "it('other', () => {})\n",
      },
      { links },
    )
    expect(await tested.baseline()).toMatchObject({ kind: 'red', passed: 1, failed: 2 })
    const { receipt } = await expectConfirmed(tested, 'mocha', { 'shop.js': mended })
    expect(receipt.body).toMatchObject({
      targets: ['checks/shop.js > shop > total', 'checks/shop.js > shop > name'],
      results: { p1: { passed: 3 }, p2: { passed: 2, failed: 0 } },
    })
  })
})

describe('go test', () => {
  it.skipIf(!hasGo)(
    'reports subtests, panics and packages that do not build',
    async () => {
      tested = await makeRun(await fixture('go'), { seconds: 300 })
      await useWarmGoCache(tested.home)
      const before = await tested.baseline()
      expect(before).toMatchObject({ kind: 'red', commands: ['go test ./...'] })
      expect(await idsByStatus(tested)).toEqual({
        passed: [
          'example.com/shop/price > TestNothing',
          'example.com/shop/price > TestTotal > of_none',
        ],
        failed: [
          'example.com/shop/price > TestTotal > of_two',
          'example.com/shop/price > TestTotal',
          'example.com/shop/price > TestFirst',
          'file:example.com/shop/broken',
        ],
        skipped: ['example.com/shop/price > TestSkipped'],
      })
      const verification = await expectConfirmed(tested, 'go test ./...', {
        'price/price.go':
          'package price\n\nfunc Total(p []int) (s int) {\n\tfor _, x := range p {\n\t\ts += x\n\t}\n\treturn\n}\n\nfunc First(p []int) int { return p[0] }\n',
        'broken/broken.go': 'package broken\n\nfunc Name() string { return "shop" }\n',
      })
      expect(verification.outcome).toBe(outcomeLine('go'))
    },
    400_000,
  )
})

describe('cargo test', () => {
  it.skipIf(!hasCargo)('has a baseline, and a proof is refused', async () => {
    tested = await makeRun(await fixture('cargo'))
    const before = await tested.baseline()
    expect(before).toMatchObject({
      kind: 'red',
      symptom: {
        language: 'rust',
        error_type: 'panic',
        failing: ['Cargo.toml::tests::two_prices'],
      },
    })
    const source = (await fixture('cargo'))['src/lib.rs'] ?? ''
    const result = await tested.run('cargo test', { 'src/lib.rs': source.replace('.skip(1)', '') })
    expect(result).toMatchObject({
      kind: 'green',
      verification: { confirmed: false, reason: 'unprovable_runner' },
    })
  })

  it.skipIf(!hasCargo)('takes a crate that does not build for a failure', async () => {
    const contents = await fixture('cargo')
    tested = await makeRun({ ...contents, 'src/lib.rs': `${contents['src/lib.rs']}fn broken( {` })
    expect(await tested.baseline()).toMatchObject({
      kind: 'red',
      symptom: { failing: ['file:Cargo.toml'], raw: expect.stringContaining('error') },
    })
  })
})

describe('a runner that is not there', () => {
  it('is named together with what to install', async () => {
    tested = await makeRun(await fixture('go'), { path: '/nonexistent' })
    expect(await tested.baseline()).toMatchObject({
      kind: 'unusable',
      reason: 'runner_missing',
      message: 'go was not found: install Go, see https://go.dev/dl',
    })
  })

  it.skipIf(!hasPython)('is pytest in a virtual environment without it', async () => {
    const venv = await mkdtemp(join(tmpdir(), 'astra-venv-'))
    execFileSync('python3', ['-m', 'venv', '--without-pip', venv])
    // The sandbox of a test-runner that was started as root has another uid.
    await chmod(venv, 0o755)
    try {
      const links = [{ path: '.venv', target: venv }]
      tested = await makeRun({ 'tests/test_a.py': 'def test_a(): pass' }, { links })
      expect(await tested.baseline()).toMatchObject({
        kind: 'unusable',
        reason: 'runner_missing',
        message: expect.stringContaining('pip install pytest'),
      })
    } finally {
      await rm(venv, { recursive: true, force: true })
    }
  })
})
