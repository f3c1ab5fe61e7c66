import { describe, expect, it } from 'vitest'
import { compareRuns, targetsOf } from '../../services/test-runner/compare-runs.ts'
import type { CompletedTests } from '../../services/test-runner/completed-tests.ts'
import type { TestStatus } from '../../services/test-runner/report.ts'

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

describe('compareRuns', () => {
  it('finds no problem when every failure passes and nothing is lost', () => {
    const after = run({ 'a > red': 'passed', 'a > green': 'passed', 'a > off': 'skipped' })
    expect(compareRuns(before, after)).toEqual({ mended: ['a > red'], problem: null })
    expect(targetsOf(before)).toEqual(['a > red'])
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
    const { problem } = compareRuns(before, run(states))
    expect(problem).toMatchObject({ reason, message: expect.stringContaining(named) })
  })

  it('wants the exit code 0', () => {
    const after = run({ 'a > red': 'passed', 'a > green': 'passed' }, 1)
    expect(compareRuns(before, after).problem).toMatchObject({ reason: 'tests_red' })
  })

  it('wants something that failed before', () => {
    const green = run({ 'a > green': 'passed' })
    expect(compareRuns(green, green).problem).toMatchObject({ reason: 'target_missing' })
  })

  it.each(['file:a', 'hook:a > suite'])(
    'takes %s for mended when a test of its file passes',
    (id) => {
      const broken = run({ [id]: 'failed' }, 1)
      expect(compareRuns(broken, run({ 'a > one': 'passed' }))).toEqual({
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
        expect(compareRuns(broken, run(after)).problem).toMatchObject({ reason })
      }
    },
  )
})
