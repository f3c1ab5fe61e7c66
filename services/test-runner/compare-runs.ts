import type { Verification } from '../../shared/contracts/tests.ts'
import type { CompletedTests } from './completed-tests.ts'
import { standsForTests, type TestEntry, type TestStatus } from './report.ts'

export type Problem = Pick<Extract<Verification, { confirmed: false }>, 'reason' | 'message'>

/** The runs of a proof, without their canaries. B: the base, P: patched; 1: all, 2: alone. */
export type ProofRuns = Record<'b1' | 'p1' | 'b2' | 'p2', CompletedTests>

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

export type Agreement = { targets: string[]; flaky: string[]; problem: Problem | null }

/**
 * What all four runs agree on, once the whole command is sound: the tests that failed in both runs
 * on the base and pass in both on the patched tree. What differs between two runs of one tree is
 * flaky, and never a target.
 */
export function compareAll({ b1, p1, b2, p2 }: ProofRuns): Agreement {
  const failures = failuresOf(b1)
  const files = new Set(failures.map((test) => test.file))
  const base = differences(b1, b2, files)
  const patched = differences(p1, p2, files)
  const inP2 = stateIn(p2)
  // A file or a hook that is mended has no entry of its own to differ.
  const apart = failures
    .filter((test) => inP2(test) !== 'passed')
    .map((test) => ({ test, first: stateIn(p1)(test), second: inP2(test) }))
  const unlike = [...base, ...patched, ...apart]
  const flaky = new Set(unlike.map(({ test }) => test.id))
  const targets = failures.map((test) => test.id).filter((id) => !flaky.has(id))
  const problem = targets.length > 0 ? null : onlyFlaky(base, [...patched, ...apart])
  return { targets, flaky: [...flaky], problem }
}

type Seen = { test: TestEntry; state: TestStatus | undefined }
type Difference = { test: TestEntry; first: TestStatus | undefined; second: TestStatus | undefined }

const isPassing = ({ state }: Seen) => state === 'passed'

/** The tests of `files` that two runs of the same tree saw differently. */
function differences(
  first: CompletedTests,
  second: CompletedTests,
  files: ReadonlySet<string>,
): Difference[] {
  const inFirst = new Map(first.tests.map((test) => [test.id, test.status]))
  const inSecond = new Map(second.tests.map((test) => [test.id, test.status]))
  const all = new Map([...second.tests, ...first.tests].map((test) => [test.id, test]))
  return [...all.values()]
    .filter((test) => files.has(test.file))
    .map((test) => ({ test, first: inFirst.get(test.id), second: inSecond.get(test.id) }))
    .filter((difference) => difference.first !== difference.second)
}

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

function onlyFlaky(base: readonly Difference[], patched: readonly Difference[]): Problem {
  const message =
    base.length > 0
      ? 'the tests that failed before the patch do not fail whenever they run, so their passing ' +
        `proves nothing: ${withBoth(base)}. Their result depends on more than the source, such as ` +
        'the order of the tests, the time or other files: say so, or repair what makes it depend on that'
      : 'the tests that the patch mends do not pass whenever they run: ' +
        `${withBoth(patched)}. Make the repair hold also when only their files run`
  return { reason: 'only_flaky', message }
}

/** How a run sees a test of another one. */
function stateIn({ tests }: CompletedTests): (test: TestEntry) => TestStatus | undefined {
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
const ABSENT = 'not there'

function listed(ids: readonly string[]): string {
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : ''
  return ids.slice(0, SHOWN).join(', ') + more
}

function withStates(seen: readonly Seen[]): string {
  return listed(seen.map(({ test, state }) => `${test.id} (${state ?? ABSENT})`))
}

function withBoth(differences: readonly Difference[]): string {
  return listed(
    differences.map(
      ({ test, first, second }) =>
        `${test.id} (${first ?? ABSENT} with all tests, ${second ?? ABSENT} alone)`,
    ),
  )
}
