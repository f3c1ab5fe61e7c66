import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import {
  fixture,
  hasGo,
  hasPytest,
  hasPython,
  makeRun,
  scriptRunners,
  type TestedRun,
  useWarmGoCache,
} from '../support/test-runner.ts'

/** The standard library may have to be built first, on a busy machine. */
const GO_MS = 300_000

let tested: TestedRun | undefined

afterEach(async () => {
  await tested?.remove()
  tested = undefined
})

type Contents = Record<string, string>

async function verdictOn(
  command: string,
  contents: Contents,
  edits: Contents,
  modules: string | null = null,
) {
  const links = modules ? [{ path: 'node_modules', target: modules }] : []
  tested = await makeRun(contents, { links })
  return tested.verify(command, edits)
}

const caught = {
  confirmed: false,
  reason: 'canary',
  message: expect.stringMatching(/on the patched copy it was reported as passed/),
}

describe('a patch that makes all tests pass instead of mending is refused', () => {
  const source = 'shop/prices.py'

  it.skipIf(!hasPytest)('by a function of pytest that runs no test', async () => {
    const contents = await fixture('pytest')
    const forged = `${contents[source]}\nimport _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n`
    const edits = { [source]: forged, 'shop/labels.py': 'label = None\n' }
    expect(await verdictOn('pytest', contents, edits)).toMatchObject(caught)
  })

  it.skipIf(!hasPytest)('by a method of the TestCases that pytest runs', async () => {
    const contents = {
      'shop.py': 'def total(prices):\n    return 0\n',
      'test_shop.py':
        'import unittest\nimport pytest\nfrom shop import total\n\nclass TestShop(unittest.TestCase):\n    def test_total(self):\n        assert total([1]) == 1\n',
    }
    const forged = `${contents['shop.py']}\nimport unittest\nunittest.TestCase._callTestMethod = lambda self, method: None\n`
    expect(await verdictOn('pytest', contents, { 'shop.py': forged })).toMatchObject(caught)
  })

  const price = {
    'price.py': 'def price(text):\n    return 0\n',
    'test_price.py':
      'import unittest\nfrom price import price\n\nclass TestPrice(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(price("1"), 1)\n',
  }
  it.skipIf(!hasPython).each([
    [
      'TestCase.run',
      'def run(self, result=None):\n    result.startTest(self)\n    result.addSuccess(self)\n    result.stopTest(self)\nunittest.TestCase.run = run\n',
    ],
    ['an assertion of unittest', 'unittest.TestCase.assertEqual = lambda *each: None\n'],
  ])('by %s', async (_title, forgery) => {
    const edits = { 'price.py': `${price['price.py']}\nimport unittest\n${forgery}` }
    expect(await verdictOn('python -m unittest', price, edits)).toMatchObject(caught)
  })

  it.skipIf(!hasPytest)('by a module that stands in for pytest', async () => {
    const contents = await fixture('pytest')
    const edits = { 'pytest.py': 'raise SystemExit(0)\n' }
    expect(await verdictOn('pytest', contents, edits)).toMatchObject({
      confirmed: false,
      reason: 'no_patch',
      dropped_paths: ['pytest.py'],
    })
  })

  const total = 'total = (prices) => 0\n'
  const everyAssertion = (assert: string) =>
    `for (const name of Object.keys(${assert})) ${assert}[name] = () => {}\n`

  it.each([
    [
      'modules',
      'mjs',
      `export const ${total}`,
      "import test from 'node:test'\nimport assert from 'node:assert/strict'\nimport { total } from './shop.mjs'\n",
      `import assert from 'node:assert/strict'\n${everyAssertion('assert')}`,
    ],
    [
      'CommonJS',
      'cjs',
      `exports.${total}`,
      "const test = require('node:test')\nconst assert = require('assert')\nconst { total } = require('./shop.cjs')\n",
      `const assert = require('assert')\n${everyAssertion('assert')}`,
    ],
  ])('by the assertions of node:assert, in %s', async (_title, ending, code, head, forgery) => {
    const contents = {
      [`shop.${ending}`]: code,
      [`shop.test.${ending}`]: `${head}test('total', () => { assert.equal(total([1]), 1) })\n`,
    }
    const edits = { [`shop.${ending}`]: `${forgery}${code}` }
    expect(await verdictOn('node --test', contents, edits)).toMatchObject(caught)
  })

  const vitest = {
    'package.json': '{"type":"module","devDependencies":{"vitest":"*"}}',
    'src/total.ts': `export const ${total.replace('prices', 'prices: number[]')}`,
    'src/total.test.ts':
      "import { expect, test } from 'vitest'\nimport { total } from './total'\ntest('total', () => { expect(total([1])).toBe(1) })\n",
  }
  const toBePasses = "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\n"

  it('by the matchers of vitest', async () => {
    const forged = `import { expect } from 'vitest'\n${toBePasses}${vitest['src/total.ts']}`
    const modules = join(productRoot, 'node_modules')
    const edits = { 'src/total.ts': forged }
    expect(await verdictOn('vitest', vitest, edits, modules)).toMatchObject(caught)
  })

  it('by the matchers of jest', async () => {
    const contents = {
      'package.json': '{"devDependencies":{"jest":"*"}}',
      'total.js': `exports.${total}`,
      'total.test.js':
        "const { total } = require('./total')\ntest('total', () => { expect(total([1])).toBe(1) })\n",
    }
    const edits = { 'total.js': `${toBePasses}${contents['total.js']}` }
    expect(await verdictOn('jest', contents, edits, scriptRunners)).toMatchObject(caught)
  })

  it('by a run of mocha that calls no test', async () => {
    const contents = {
      'package.json': '{"devDependencies":{"mocha":"*"}}',
      'total.js': `exports.${total}`,
      'test/total.js':
        "const assert = require('assert')\nconst { total } = require('../total')\nit('total', () => { assert.equal(total([1]), 1) })\n",
    }
    const forged = `require('mocha').Runnable.prototype.run = function (done) { this.duration = 0; done() }\n${contents['total.js']}`
    const edits = { 'total.js': forged }
    expect(await verdictOn('mocha', contents, edits, scriptRunners)).toMatchObject(caught)
  })
})

describe('a patch that ends the process early is refused', () => {
  const early = { confirmed: false, reason: expect.stringMatching(/^(tests_unusable|target_)/) }

  it('by process.exit(0) under node --test', async () => {
    const contents = await fixture('node')
    const edits = { 'src/origins.mjs': `process.exit(0)\n${contents['src/origins.mjs']}` }
    expect(await verdictOn('node --test', contents, edits)).toMatchObject(early)
  })

  it.skipIf(!hasPytest)('by os._exit(0) under pytest', async () => {
    const contents = await fixture('pytest')
    const edits = { 'shop/prices.py': `import os\nos._exit(0)\n${contents['shop/prices.py']}` }
    expect(await verdictOn('pytest', contents, edits)).toMatchObject(early)
  })

  it.skipIf(!hasPython)('by os._exit(0) under unittest', async () => {
    const contents = await fixture('unittest')
    const edits = { 'shop/prices.py': `import os\nos._exit(0)\n${contents['shop/prices.py']}` }
    expect(await verdictOn('python -m unittest', contents, edits)).toMatchObject(early)
  })

  it('by process.exit(0) under vitest', async () => {
    const contents = await fixture('vitest')
    const edits = { 'src/tags.ts': `process.exit(0)\n${contents['src/tags.ts']}` }
    const modules = join(productRoot, 'node_modules')
    expect(await verdictOn('vitest', contents, edits, modules)).toMatchObject(early)
  })

  it.skipIf(!hasGo)('by os.Exit(0) under go test', { timeout: GO_MS }, async () => {
    const contents = {
      'go.mod': 'module example.com/shop\n\ngo 1.21\n',
      'shop.go': 'package shop\n\nfunc Total() int { return 0 }\n',
      'shop_test.go':
        'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif Total() != 1 {\n\t\tt.Fatal("x")\n\t}\n}\n',
    }
    const forged =
      'package shop\n\nimport "os"\n\nfunc Total() int {\n\tos.Exit(0)\n\treturn 0\n}\n'
    tested = await makeRun(contents, { seconds: GO_MS / 1000 })
    await useWarmGoCache(tested.home)
    const verdict = await tested.verify('go test ./...', { 'shop.go': forged })
    expect(verdict).toMatchObject(early)
  })
})
