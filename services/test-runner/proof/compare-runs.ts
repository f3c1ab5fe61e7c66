import type { Verification } from '../../../shared/contracts/tests.ts'
import type { CompletedTests } from '../run/completed-tests.ts'
import { standsForTests, type TestEntry, type TestStatus } from '../run/report.ts'

export type Problem = Pick<Extract<Verification, { confirmed: false }>, 'reason' | 'message'>

export type Comparison = {
  /** Targets that pass now. */
  mended: string[]
  problem: Problem | null
}

const hasFailed = (test: TestEntry) => test.status === 'failed'

/** The tests that failed. */
export function failuresOf(run: CompletedTests): TestEntry[] {
  return run.tests.filter(hasFailed)
}

/**
 * Whether, with the whole command, every failure of the base passes on the patched tree and nothing
 * that passed is lost.
 */
export function compareWhole(before: CompletedTests, after: CompletedTests): Comparison {
  const stateOf = stateIn(after)
  const targets = failuresOf(before).map((test) => ({ test, state: stateOf(test) }))
  const passed = before.tests
    .filter((test) => test.status === 'passed')
    .map((test) => ({ test, state: stateOf(test) }))
  return {
    mended: targets.filter(isPassing).map(({ test }) => test.id),
    problem: targetProblem(targets) ?? regression(passed) ?? redTests(after),
  }
}

type Seen = { test: TestEntry; state: TestStatus | undefined }
const isPassing = ({ state }: Seen) => state === 'passed'

function targetProblem(targets: readonly Seen[]): Problem | null {
  if (targets.length === 0) {
    return { reason: 'target_missing', message: 'no test failed before the patch' }
  }
  const missing = targets.filter(({ state }) => state === undefined)
  if (missing.length > 0) {
    const message = `failing tests are no longer there: ${listed(missing.map(({ test }) => test.id))}`
    return { reason: 'target_missing', message }
  }
  const open = targets.filter((target) => !isPassing(target))
  if (open.length === 0) return null
  return { reason: 'target_not_passing', message: `tests do not pass yet: ${withStates(open)}` }
}

function regression(passed: readonly Seen[]): Problem | null {
  const lost = passed.filter((test) => !isPassing(test))
  if (lost.length === 0) return null
  const message = `tests that passed before the patch do not pass now: ${withStates(lost)}`
  return { reason: 'regression', message }
}

function redTests(after: CompletedTests): Problem | null {
  const failed = failuresOf(after).map((test) => test.id)
  if (failed.length === 0 && after.exitCode === 0) return null
  const message = `the command ended with exit code ${after.exitCode}: ${listed(failed)}`
  return { reason: 'tests_red', message }
}

/** How a run sees a test of another one. */
export function stateIn({ tests }: CompletedTests): (test: TestEntry) => TestStatus | undefined {
  const states = new Map(tests.map((test) => [test.id, test.status]))
  return (test) => (standsForTests(test.id) ? groupState(test, tests) : states.get(test.id))
}

/** A file that did not load, or a hook, is mended when it is sound and a real test there passes. */
function groupState(target: TestEntry, tests: readonly TestEntry[]): TestStatus | undefined {
  const inFile = tests.filter((test) => test.file === target.file)
  if (inFile.some((test) => test.id === target.id)) return 'failed'
  if (inFile.length === 0) return undefined
  const passes = inFile.some((test) => test.status === 'passed' && !standsForTests(test.id))
  return passes ? 'passed' : 'skipped'
}

const SHOWN = 10
export const ABSENT = 'not there'

export function listed(ids: readonly string[]): string {
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : ''
  return ids.slice(0, SHOWN).join(', ') + more
}

function withStates(seen: readonly Seen[]): string {
  return listed(seen.map(({ test, state }) => `${test.id} (${state ?? ABSENT})`))
}
