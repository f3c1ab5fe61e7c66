import { describe, expect, it } from 'vitest'
import { makeCanary, sightCanaries } from '../../services/test-runner/canary/canary.ts'
import { canaryName } from '../../services/test-runner/canary/canary-name.ts'
import type { CanarySite } from '../../services/test-runner/canary/canary-site.ts'
import { canarySites } from '../../services/test-runner/canary/canary-sites.ts'
import type { TestEntry, TestStatus } from '../../services/test-runner/run/report.ts'

describe('the name of a canary keeps the pattern of', () => {
  it.each([
    ['test_prices.py', 'test_c0ffee.py'],
    ['prices_test.py', 'c0ffee_test.py'],
    ['check_prices.py', 'check_c0ffee_prices.py'],
    ['tests.py', 'testsc0ffee.py'],
    ['cart.test.ts', 'c0ffee.test.ts'],
    ['user-cart.unit.spec.tsx', 'c0ffee.unit.spec.tsx'],
    ['x-spec.js', 'c0ffee-spec.js'],
    ['x_test.mjs', 'c0ffee_test.mjs'],
    ['test-cart.js', 'test-c0ffee.js'],
    ['test.js', 'test-c0ffee.js'],
    ['cart.js', 'c0ffeecart.js'],
    ['cartTest.js', 'c0ffeecartTest.js'],
    ['cart', 'c0ffeecart'],
  ])('%s', (file, name) => {
    expect(canaryName(file, 'c0ffee')).toBe(name)
  })
})

const entry = (file: string, name: string, status: TestStatus = 'failed'): TestEntry => ({
  id: name === '' ? `file:${file}` : `${file} > ${name}`,
  file,
  name: name === '' ? file : name,
  status,
  message: '',
})

function site(path: string, name: string, text = ''): CanarySite {
  return { target: entry(path, name), path, text }
}

describe('a canary', () => {
  it('stands beside the target under a name that no other run has', () => {
    const place = site('tests/unit/test_a.py', 'test_total')
    const [one, two] = [makeCanary('pytest', place), makeCanary('pytest', place)]
    expect(one.path).toMatch(/^tests\/unit\/test_c[0-9a-f]{12}\.py$/)
    expect(two.path).not.toBe(one.path)
    expect(makeCanary('pytest', site('test_a.py', 'test_a')).path).toMatch(/^test_c\w+\.py$/)
  })

  it('is named as the target is, for what selects tests by name', () => {
    const check = makeCanary('pytest', site('check_a.py', 'CheckCart::check_total[one two]'))
    expect(check.text).toMatch(/^def check_total_c\w+\(\):/)
    const nested = makeCanary('vitest', site('a.test.ts', 'cart > total > of "none"'))
    expect(nested.text).toMatch(/test\("cart total of \\"none\\" c\w+", /)
    const subtest = makeCanary('go', {
      target: entry('example.com/shop', 'TestTotal > of_none'),
      path: 'shop_test.go',
      text: 'package shop\n',
    })
    expect(subtest.text).toMatch(/^func TestTotal_c\w+\(t /m)
    expect(subtest.name).toMatch(/^TestTotal_c\w+$/)
  })

  it('has a name of its own where the target is a file or a hook', () => {
    expect(makeCanary('unittest', site('test_a.py', 'TestA::setUpClass')).text).toMatch(
      /^ {4}def test_c/m,
    )
    expect(makeCanary('pytest', site('test_a.py', '')).text).toMatch(/^def test_c/m)
    expect(makeCanary('node', site('a.test.mjs', '')).text).toMatch(/^test\("c\w+", /m)
  })

  it.each([
    ['a.test.js', "const { total } = require('./shop')\n", "const { test } = require('node:test')"],
    ['a.test.js', "import { total } from './shop.js'\n", "import { test } from 'node:test'"],
    ['a.test.mjs', 'total\n', "import { test } from 'node:test'"],
    ['a.test.cjs', '// import nothing\n', "const { test } = require('node:test')"],
  ])('of node --test beside %s with %j has %s', (path, text, line) => {
    expect(makeCanary('node', site(path, 'total', text)).text).toContain(line)
  })

  it('gets its test function as the runner gives it', () => {
    const text = (runner: 'jest' | 'vitest' | 'mocha', more = '') =>
      makeCanary(runner, site('a.test.js', 'a', more)).text
    expect(text('vitest')).toContain("import { expect, test } from 'vitest'")
    expect(text('jest')).not.toContain('@jest/globals')
    expect(text('jest', "import { test } from '@jest/globals'\n")).toContain(
      "import { expect, test } from '@jest/globals'",
    )
    expect(text('mocha')).toContain('(globalThis.it ?? globalThis.test)("a c')
  })

  it('loads what the targets load, in the environment that they name', () => {
    const text = [
      // In two parts: this file itself is no test of that environment.
      ['// @vitest', 'environment jsdom'].join('-'),
      "import { total } from '../src/shop.ts'",
      "import '../src/setup.ts'",
      "const late = await import('../src/late.ts')",
    ].join('\n')
    const canary = makeCanary('vitest', site('test/a.test.ts', 'a', text))
    expect(canary.text).toContain(['/** @vitest', 'environment jsdom */'].join('-'))
    for (const module of ['../src/shop.ts', '../src/setup.ts', '../src/late.ts']) {
      expect(canary.text).toContain(`try { await import("${module}") } catch {}`)
    }
  })

  it('of go is in the package of its neighbour and runs first', () => {
    const canary = makeCanary('go', {
      target: entry('example.com/shop/price', 'TestTotal'),
      path: 'price/price_test.go',
      text: '// Prices.\npackage price_test\n\nimport "testing"\n',
    })
    expect(canary.path).toMatch(/^price\/0c\w+_test\.go$/)
    expect(canary.text).toMatch(/^package price_test\n/)
    expect(canary.file).toBe('example.com/shop/price')
  })
})

describe('the places of canaries', () => {
  const base = (files: Record<string, string>) => ({
    root: '/base',
    paths: Object.keys(files),
    read: async (path: string) => files[path] ?? '',
  })

  it('are the folders of the targets, each with the texts of all its targets', async () => {
    const files = { 'a/x.test.js': 'one', 'a/y.test.js': 'two', 'z.test.js': 'three' }
    const targets = ['a/x.test.js', 'a/y.test.js', 'a/x.test.js', 'z.test.js'].map((path) =>
      entry(path, 'test'),
    )
    expect(await canarySites('node', targets, base(files))).toEqual({
      sites: [
        { target: targets[0], path: 'a/x.test.js', text: 'one\ntwo\n' },
        { target: targets[3], path: 'z.test.js', text: 'three\n' },
      ],
    })
  })

  it('of go follow from the name of the module', async () => {
    const files = {
      'go.mod': '// The shop.\nmodule example.com/shop\n\ngo 1.21\n',
      'root_test.go': 'package shop\n',
      'price/price_test.go': 'package price\n',
    }
    const found = async (name: string) => {
      const places = await canarySites('go', [entry(name, 'TestA')], base(files))
      return 'lost' in places ? places : places.sites.map(({ path }) => path)
    }
    expect(await found('example.com/shop')).toEqual(['root_test.go'])
    expect(await found('example.com/shop/price')).toEqual(['price/price_test.go'])
    expect(await found('example.com/shopping')).toEqual({ lost: 'example.com/shopping' })
    expect(await found('example.com/shop/../../etc')).toEqual({
      lost: 'example.com/shop/../../etc',
    })
  })

  it('are none where a report names a file that the base has not', async () => {
    const targets = [entry('../outside.test.js', 'test')]
    expect(await canarySites('node', targets, base({ 'a.test.js': '' }))).toEqual({
      lost: '../outside.test.js',
    })
  })
})

describe('the sight of a canary', () => {
  const canary = { path: 'a/c0.test.js', text: '', tests: 1, file: 'a/c0.test.js', name: null }
  const target = entry('a/x.test.js', 'total', 'passed')
  const sight = (tests: TestEntry[], tree: 'base' | 'patched' = 'patched') =>
    sightCanaries([target, ...tests], [canary], tree)

  it('is a failure, which is taken out of the rest', () => {
    const seen = entry(canary.path, 'must fail')
    expect(sight([seen])).toEqual({ failed: [seen.id], unseen: [], others: [target] })
  })

  it.each([
    ['passed', [entry(canary.path, 'must fail', 'passed')]],
    ['was skipped', [entry(canary.path, 'must fail', 'skipped')]],
    ['is missing', []],
    ['failed once and passed once', [entry(canary.path, 'a'), entry(canary.path, 'b', 'passed')]],
    ['did not load on the patched tree', [entry(canary.path, '')]],
  ])('is lost when it %s', (_title, tests) => {
    expect(sight(tests)).toMatchObject({ unseen: [canary.path], others: [target] })
  })

  it('is a failure on the base when nothing of its folder loads there', () => {
    expect(sight([entry(canary.path, '')], 'base')).toEqual({
      failed: [],
      unseen: [],
      others: [target],
    })
  })

  it('wants every test that it has', () => {
    const both = { ...canary, tests: 2 }
    const one = [entry(canary.path, 'a')]
    expect(sightCanaries(one, [both], 'patched').unseen).toEqual([canary.path])
  })

  it('leaves the other tests of a go package in place', () => {
    const own = { ...canary, file: 'example.com/shop', name: 'Test_c0' }
    const tests = [entry('example.com/shop', 'Test_c0'), entry('example.com/shop', 'TestTotal')]
    expect(sightCanaries(tests, [own], 'patched')).toEqual({
      failed: ['example.com/shop > Test_c0'],
      unseen: [],
      others: [tests[1]],
    })
    const broken = [entry('example.com/shop', '')]
    expect(sightCanaries(broken, [own], 'base').unseen).toEqual([])
    expect(sightCanaries(broken, [own], 'patched').unseen).toEqual([canary.path])
  })
})
