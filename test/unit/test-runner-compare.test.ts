import { describe, expect, it } from 'vitest'
import { compareAll } from '../../services/test-runner/proof/compare-all.ts'
import { compareWhole } from '../../services/test-runner/proof/compare-runs.ts'
import type { CompletedTests } from '../../services/test-runner/run/completed-tests.ts'
import type { TestStatus } from '../../services/test-runner/run/report.ts'

function run(states: Record<string, TestStatus>, exitCode = 0): CompletedTests {
  const tests = Object.entries(states).map(([id, status]) => {
    const file = id.replace(/^\w+:/, '').split(' > ')[0] ?? ''
    return { id, file, name: id, status, message: '' }
  })
  return {
    kind: 'completed',
    command: 'vitest',
    runner: 'vitest',
    commands: ['vitest'],
    tests,
    exitCode,
    output: '',
    sandboxed: false,
    ms: 0,
  }
}

const before = run({ 'a > red': 'failed', 'a > green': 'passed', 'a > off': 'skipped' }, 1)

describe('compareWhole', () => {
  it('finds no problem when every failure passes and nothing is lost', () => {
    const after = run({ 'a > red': 'passed', 'a > green': 'passed', 'a > off': 'skipped' })
    expect(compareWhole(before, after)).toEqual({ mended: ['a > red'], problem: null })
  })

  it.each([
    ['a target is gone', { 'a > green': 'passed' }, 'target_missing', 'a > red'],
    [
      'a target was renamed',
      { 'a > rouge': 'passed', 'a > green': 'passed' },
      'target_missing',
      'a > red',
    ],
    [
      'a target is skipped',
      { 'a > red': 'skipped', 'a > green': 'passed' },
      'target_not_passing',
      'a > red (skipped)',
    ],
    [
      'a target fails',
      { 'a > red': 'failed', 'a > green': 'passed' },
      'target_not_passing',
      'a > red (failed)',
    ],
    ['a pass is lost', { 'a > red': 'passed' }, 'regression', 'a > green (not there)'],
    [
      'a pass is skipped',
      { 'a > red': 'passed', 'a > green': 'skipped' },
      'regression',
      'a > green (skipped)',
    ],
    [
      'a pass fails',
      { 'a > red': 'passed', 'a > green': 'failed' },
      'regression',
      'a > green (failed)',
    ],
    [
      'another fails',
      { 'a > red': 'passed', 'a > green': 'passed', 'a > off': 'failed' },
      'tests_red',
      'a > off',
    ],
  ] as const)('names the test when %s', (_title, states, reason, named) => {
    const { problem } = compareWhole(before, run(states))
    expect(problem).toMatchObject({ reason, message: expect.stringContaining(named) })
  })

  it('wants the exit code 0', () => {
    const after = run({ 'a > red': 'passed', 'a > green': 'passed' }, 1)
    expect(compareWhole(before, after).problem).toMatchObject({ reason: 'tests_red' })
  })

  it('wants something that failed before', () => {
    const green = run({ 'a > green': 'passed' })
    expect(compareWhole(green, green).problem).toMatchObject({ reason: 'target_missing' })
  })

  it.each(['file:a', 'hook:a > suite'])(
    'takes %s for mended when a test of its file passes',
    (id) => {
      const broken = run({ [id]: 'failed' }, 1)
      expect(compareWhole(broken, run({ 'a > one': 'passed' }))).toEqual({
        mended: [id],
        problem: null,
      })
      const states = [
        [{}, 'target_missing'],
        [{ 'b > one': 'passed' }, 'target_missing'],
        [{ 'a > one': 'skipped' }, 'target_not_passing'],
        [{ [id]: 'failed', 'a > one': 'passed' }, 'target_not_passing'],
      ] as const
      for (const [after, reason] of states) {
        expect(compareWhole(broken, run(after)).problem).toMatchObject({ reason })
      }
    },
  )
})

describe('compareAll', () => {
  const b1 = run({ 'a > red': 'failed', 'a > odd': 'failed', 'a > green': 'passed' }, 1)
  const p1 = run({ 'a > red': 'passed', 'a > odd': 'passed', 'a > green': 'passed' })
  const all = { b1, b2: b1, p1, p2: p1 }

  it('takes what failed twice before and passes twice now for targets', () => {
    expect(compareAll(all)).toEqual({ targets: ['a > red', 'a > odd'], flaky: [], problem: null })
  })

  it.each([
    ['passes alone on the base', 'b2', 'passed'],
    ['is skipped alone on the base', 'b2', 'skipped'],
    ['is not there alone on the base', 'b2', undefined],
    ['fails alone on the patched tree', 'p2', 'failed'],
    ['is skipped alone on the patched tree', 'p2', 'skipped'],
    ['is not there alone on the patched tree', 'p2', undefined],
  ] as const)('names a failure that %s as flaky, never as a target', (_title, which, status) => {
    const { 'a > odd': _, ...others } = states(all[which])
    const second = run(status ? { ...others, 'a > odd': status } : others, 1)
    expect(compareAll({ ...all, [which]: second })).toEqual({
      targets: ['a > red'],
      flaky: ['a > odd'],
      problem: null,
    })
  })

  it('names other tests of these files that differ, also ones of one run only', () => {
    const b2 = run({ ...states(b1), 'a > green': 'failed', 'a > new': 'passed' }, 1)
    expect(compareAll({ ...all, b2 })).toMatchObject({
      targets: ['a > red', 'a > odd'],
      flaky: ['a > green', 'a > new'],
    })
  })

  it('expects nothing alone of files without failures', () => {
    const more = { 'b > green': 'passed' } as const
    const runs = {
      ...all,
      b1: run({ ...states(b1), ...more }, 1),
      p1: run({ ...states(p1), ...more }),
    }
    expect(compareAll(runs).flaky).toEqual([])
  })

  it('refuses where all that failed on the base is flaky, and names it with both results', () => {
    const before = run({ 'a > odd': 'failed' }, 1)
    const b2 = run({ 'a > odd': 'passed' })
    const after = run({ 'a > odd': 'passed' })
    expect(compareAll({ b1: before, b2, p1: after, p2: after })).toMatchObject({
      targets: [],
      flaky: ['a > odd'],
      problem: {
        reason: 'only_flaky',
        message: expect.stringContaining('a > odd (failed with all tests, passed alone)'),
      },
    })
  })

  it('refuses where nothing that the patch mends passes alone', () => {
    const p2 = run({ ...states(p1), 'a > red': 'failed', 'a > odd': 'failed' }, 1)
    const b2 = run({ ...states(b1), 'a > green': 'skipped' }, 1)
    const { problem } = compareAll({ ...all, b2, p2 })
    expect(problem?.reason).toBe('only_flaky')
    expect(problem?.message).toMatch(
      /: a > red \(passed with all tests, failed alone\), a > odd \(passed with all tests, failed alone\)\. Make/,
    )
  })

  it.each(['file:a', 'hook:a > suite'])(
    'takes %s for a target while it is mended in both',
    (id) => {
      const before = run({ [id]: 'failed' }, 1)
      const after = run({ 'a > one': 'passed' })
      const runs = { b1: before, b2: before, p1: after, p2: after }
      expect(compareAll(runs)).toEqual({ targets: [id], flaky: [], problem: null })
      const p2 = run({ [id]: 'failed' }, 1)
      expect(compareAll({ ...runs, p2 })).toMatchObject({ problem: { reason: 'only_flaky' } })
    },
  )
})

function states({ tests }: CompletedTests): Record<string, TestStatus> {
  return Object.fromEntries(tests.map((test) => [test.id, test.status]))
}
