import type { CompletedTests } from '../run/completed-tests.ts'
import type { TestEntry, TestStatus } from '../run/report.ts'
import { ABSENT, failuresOf, listed, type Problem, stateIn } from './compare-runs.ts'

/** The runs of a proof, without their canaries. B: the base, P: patched; 1: all, 2: alone. */
export type ProofRuns = Record<'b1' | 'p1' | 'b2' | 'p2', CompletedTests>

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
  // A file or a hook that is mended has no entry of its own that could differ.
  const [inP1, inP2] = [stateIn(p1), stateIn(p2)]
  const lost = failures
    .map((test) => ({ test, first: inP1(test), second: inP2(test) }))
    .filter(({ second }) => second !== 'passed')
  const flaky = new Set([...base, ...patched, ...lost].map(({ test }) => test.id))
  const targets = failures.map((test) => test.id).filter((id) => !flaky.has(id))
  const seldom = base.filter(({ first }) => first === 'failed')
  const problem = targets.length > 0 ? null : onlyFlaky(seldom, lost)
  return { targets, flaky: [...flaky], problem }
}

type Difference = { test: TestEntry; first: TestStatus | undefined; second: TestStatus | undefined }

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

function onlyFlaky(base: readonly Difference[], patched: readonly Difference[]): Problem {
  const { what, advice, those } = disagreement(base, patched)
  return { reason: 'only_flaky', message: `${what}: ${withBoth(those)}. ${advice}` }
}

function disagreement(base: readonly Difference[], patched: readonly Difference[]) {
  const absent = base.filter(({ second }) => second === undefined)
  if (absent.length > 0 && absent.length === base.length) {
    const what = 'the tests that failed before the patch are not there when their files run alone'
    return { what, those: base, advice: 'Tests that one file defines for another cannot be proved' }
  }
  if (base.length > 0) {
    const what =
      'the tests that failed before the patch do not fail whenever they run, so that they pass proves nothing'
    const advice =
      'Their result depends on more than the source, such as the order of the tests, the time or ' +
      'other files: say so, or repair what makes it depend on that'
    return { what, those: base, advice }
  }
  const what = 'the tests that the patch mends do not pass whenever they run'
  return { what, those: patched, advice: 'Make the repair hold also when only their files run' }
}

function withBoth(differences: readonly Difference[]): string {
  return listed(
    differences.map(
      ({ test, first, second }) =>
        `${test.id} (${first ?? ABSENT} with all tests, ${second ?? ABSENT} alone)`,
    ),
  )
}
