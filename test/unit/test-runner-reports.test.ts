import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RawReport } from '../../services/test-runner/run/report.ts'
import { runners } from '../../services/test-runner/runners/all.ts'
import { runnerSchema } from '../../shared/contracts/receipt.ts'

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'test-runner')

const report = (changes: Partial<RawReport>): RawReport => ({
  file: null,
  stdout: '',
  stderr: '',
  exitCode: 1,
  root: '/tmp/tr/jm',
  ...changes,
})

async function parsed(runner: 'jest' | 'mocha', file: string) {
  const text = await readFile(join(fixtures, file), 'utf8')
  const result = runners[runner].parse(report({ file: text }))
  if (!result.readable) throw new Error(result.why)
  return result.tests
}

describe('a report of go', () => {
  const events = (...list: object[]) =>
    report({ stdout: list.map((event) => JSON.stringify(event)).join('\n') })

  it('is none when its packages could not be listed', () => {
    const event = { Action: 'fail', Package: './...', Elapsed: 0 }
    expect(runners.go.parse(events(event))).toEqual({
      readable: false,
      why: 'go test could not list the packages of ./...',
    })
  })

  it('names a package that does not build', () => {
    const result = runners.go.parse(events({ Action: 'fail', Package: 'example.com/shop' }))
    expect(result).toMatchObject({ readable: true, tests: [{ id: 'file:example.com/shop' }] })
  })
})

describe('a report of jest 30', () => {
  it('has repeated names, nested suites, todo tests and files that do not load', async () => {
    const tests = await parsed('jest', 'jest-report.json')
    expect(tests.map((test) => [test.status, test.id])).toEqual([
      ['passed', 'jt/a.test.js > top ok'],
      ['passed', 'jt/a.test.js > same'],
      ['failed', 'jt/a.test.js > same #2'],
      ['failed', 'jt/a.test.js > suite > in bad'],
      ['skipped', 'jt/a.test.js > suite > skipped'],
      ['skipped', 'jt/a.test.js > suite > later'],
      ['passed', 'jt/a.test.js > suite > inner > deep'],
      ['failed', 'file:jt/broken.test.js'],
    ])
    expect(tests.at(-1)?.message).toContain("Cannot find module './nope'")
  })
})

describe('a report of mocha 12', () => {
  it('has repeated names, pending tests and hooks that failed', async () => {
    const tests = await parsed('mocha', 'mocha-report.json')
    expect(tests.map((test) => [test.status, test.id])).toEqual([
      ['passed', 'mt/a.js > top ok'],
      ['passed', 'mt/a.js > suite > same'],
      ['failed', 'mt/a.js > suite > same #2'],
      ['skipped', 'mt/a.js > suite > skipped'],
      ['skipped', 'mt/a.js > suite > pending'],
      ['passed', 'mt/a.js > suite inner > deep'],
      ['failed', 'hook:mt/a.js > hook > "before all" hook for "never"'],
    ])
    expect(tests[2]?.message).toContain('AssertionError [ERR_ASSERTION]')
  })
})

const shapes = [
  '',
  '{}',
  '[]',
  'null',
  '{"testResults":[{}]}',
  '{"tests":[1],"failures":[]}',
  '<testsuites>',
  '<testsuites><testsuite><testcase/></testsuite></testsuites>',
  '<other/>',
  '{"file":1}\n{"end":true}',
  '{"Action":"pass"}',
]

describe.each(runnerSchema.options)('a report of %s that is none', (runner) => {
  it('is unreadable when it is missing', () => {
    expect(runners[runner].parse(report({}))).toMatchObject({ readable: false })
  })

  it.each(shapes)('gives no passed test: %j', (text) => {
    const result = runners[runner].parse(report({ file: text, stdout: text }))
    expect(result.readable && result.tests.filter((test) => test.status === 'passed')).toBeOneOf([
      false,
      [],
    ])
  })

  it('never throws', () => {
    const anything = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.constantFrom(...shapes))
    fc.assert(
      fc.property(anything, anything, (text, more) => {
        const result = runners[runner].parse(report({ file: text, stdout: more, stderr: text }))
        expect(typeof result.readable).toBe('boolean')
      }),
    )
  })
})

describe('a report of pytest', () => {
  it('of no tests is readable and empty', () => {
    const file =
      '<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="0" /></testsuites>'
    expect(runners.pytest.parse(report({ file }))).toEqual({ readable: true, tests: [] })
  })

  it.each([
    ['tests.test_a.TestCart', 'tests/base.py', 'tests/test_a.py::TestCart::test_total'],
    [
      'Tests.test_a.TestCart.TestInner',
      'base.py',
      'Tests/test_a.py::TestCart::TestInner::test_total',
    ],
    ['tests.test_a', 'tests/decorators.py', 'tests/test_a.py::test_total'],
    ['tests.test_a', 'tests/test_a.py', 'tests/test_a.py::test_total'],
    ['', 'tests/test_a.py', 'tests/test_a.py::test_total'],
  ])('names the collected file of %j, whose text is in %s', (classname, file, id) => {
    const text = `<testsuites><testsuite><testcase classname="${classname}" name="test_total" file="${file}"/></testsuite></testsuites>`
    const result = runners.pytest.parse(report({ file: text }))
    expect(result.readable && result.tests.map((test) => test.id)).toEqual([id])
  })

  it('makes one test of a failure and the failing teardown after it', () => {
    const entry = (kind: string) =>
      `<testcase classname="t.A" name="test_a" file="t.py"><${kind} message="m">text</${kind}></testcase>`
    const file = `<testsuites><testsuite>${entry('failure')}${entry('error')}</testsuite></testsuites>`
    expect(runners.pytest.parse(report({ file }))).toEqual({
      readable: true,
      tests: [
        {
          id: 't.py::A::test_a',
          file: 't.py',
          name: 'A::test_a',
          status: 'failed',
          message: 'text\ntext',
        },
      ],
    })
  })
})
