import type { Verification } from '../../shared/contracts/tests.ts'
import { isFileTarget, type TestEntry, type TestStatus } from './report.ts'
import type { CompletedTests } from './run-tests.ts'

type Problem = Pick<Extract<Verification, { confirmed: false }>, 'reason' | 'message'>

export type Comparison = {
  /** Targets that pass now. */
  mended: string[]
  problem: Problem | null
}

/** The ids that failed before: all of them must pass. */
export function targetsOf(before: CompletedTests): string[] {
  return before.tests.filter((test) => test.status === 'failed').map((test) => test.id)
}

/** Whether every failure of `before` passes in `after` and nothing that passed is lost. */
export function compareRuns(before: CompletedTests, after: CompletedTests): Comparison {
  const now = new Map(after.tests.map((test) => [test.id, test.status]))
  const targets = targetsOf(before)
  const stateOf = (id: string) => (isFileTarget(id) ? fileState(id, after.tests) : now.get(id))
  const mended = targets.filter((id) => stateOf(id) === 'passed')
  return { mended, problem: firstProblem(before, after, targets, stateOf) }
}

function firstProblem(
  before: CompletedTests,
  after: CompletedTests,
  targets: readonly string[],
  stateOf: (id: string) => TestStatus | undefined,
): Problem | null {
  if (targets.length === 0) {
    return { reason: 'target_missing', message: 'no test failed before the patch' }
  }
  const missing = targets.filter((id) => stateOf(id) === undefined)
  if (missing.length > 0) {
    const message = `failing tests are no longer there: ${listed(missing)}`
    return { reason: 'target_missing', message }
  }
  const open = targets.filter((id) => stateOf(id) !== 'passed')
  if (open.length > 0) {
    const states = open.map((id) => `${id} (${stateOf(id)})`)
    return { reason: 'target_not_passing', message: `tests do not pass yet: ${listed(states)}` }
  }
  const passed = before.tests.filter((test) => test.status === 'passed').map((test) => test.id)
  const lost = passed.filter((id) => stateOf(id) !== 'passed')
  if (lost.length > 0) {
    const states = lost.map((id) => `${id} (${stateOf(id) ?? 'not there'})`)
    const message = `tests that passed before the patch do not pass now: ${listed(states)}`
    return { reason: 'regression', message }
  }
  const failed = after.tests.filter((test) => test.status === 'failed').map((test) => test.id)
  if (failed.length > 0 || after.exitCode !== 0) {
    const message = `the command ended with exit code ${after.exitCode}: ${listed(failed)}`
    return { reason: 'tests_red', message }
  }
  return null
}

/** A file that did not load is mended when it loads and one real test in it passes. */
function fileState(id: string, tests: readonly TestEntry[]): TestStatus | undefined {
  const file = id.slice('file:'.length)
  const inFile = tests.filter((test) => test.file === file)
  if (inFile.some((test) => test.id === id)) return 'failed'
  if (inFile.length === 0) return undefined
  return inFile.some((test) => test.status === 'passed') ? 'passed' : 'skipped'
}

const SHOWN = 10

function listed(ids: readonly string[]): string {
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : ''
  return ids.slice(0, SHOWN).join(', ') + more
}
