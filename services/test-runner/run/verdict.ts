import type { UnusableTests } from '../../../shared/contracts/tests.ts'
import { headAndTail } from '../../../shared/symptom.ts'
import type { TestCommand } from '../discovery/command-line.ts'
import { runners } from '../runners/all.ts'
import { STARTER } from '../sandbox/bwrap-command.ts'
import type { CompletedTests, TestRunConfig } from './completed-tests.ts'
import { relativePaths } from './output.ts'
import type { RawReport, TestEntry } from './report.ts'
import type { CommandResult } from './run-command.ts'
import type { TimeLimit } from './time-limit.ts'

export type Verdict = Omit<CompletedTests, 'commands' | 'sandboxed'> | UnusableTests

type Ended = {
  command: TestCommand
  report: RawReport
  end: CommandResult['end']
  ms: number
  output: string
  limit: TimeLimit
  config: TestRunConfig
}

/** Of one test; the report of the baseline is kept. Characters. */
const MAX_MESSAGE = 16_000

const NO_TESTS =
  /no tests? (found|files? found|ran|specified|to run)|could not find '|no test suite found|Ran 0 tests/i
/** Exit codes of a program that starts others: it must not, or it is not there. */
const CANNOT_START = new Set([126, 127])
const NOT_STARTED = new RegExp(`^${STARTER}: `, 'm')
const MODULE_MISSING = /No module named '?(pytest)\b/

/**
 * Takes a run's report for a verdict, or says why it is none: a report that is missing, that
 * disagrees with the exit code, or that names no test proves nothing.
 */
export function judge(ended: Ended): Verdict {
  const { command, report, ms, output } = ended
  const { display, runner } = command
  const unusable = (reason: UnusableTests['reason'], message: string): UnusableTests => ({
    kind: 'unusable',
    reason,
    message,
    output,
  })
  const early = stopped(ended) ?? notStarted(ended)
  if (early) return unusable(early.reason, early.message)
  const parsed = runners[runner].parse(report)
  if (!parsed.readable) {
    return NO_TESTS.test(output)
      ? unusable('no_tests_found', noTests(display))
      : unusable('tests_unreadable', `${parsed.why} (exit code ${report.exitCode ?? 'none'})`)
  }
  const doubt = doubtOf(parsed.tests, report, output, display)
  if (doubt) return unusable(doubt.reason, doubt.message)
  const tests = parsed.tests.map((test) => ({
    ...test,
    message: headAndTail(relativePaths(test.message, report.root), MAX_MESSAGE),
  }))
  const exitCode = report.exitCode ?? 1
  const shown = output || failureList(tests)
  return {
    kind: 'completed',
    command: display,
    runner,
    tests,
    exitCode,
    output: shown,
    ms,
  }
}

type Doubt = Pick<UnusableTests, 'reason' | 'message'> | null

function stopped({ command, end, limit, config }: Ended): Doubt {
  const because = (why: string) => `${command.display} was stopped: it ${why}`
  switch (end) {
    case 'timed_out': {
      const message = `${command.display} was stopped after ${limit.text}`
      return { reason: 'tests_timed_out', message }
    }
    case 'output_limit': {
      const bytes = `${config.ASTRA_TEST_OUTPUT_BYTES} bytes (ASTRA_TEST_OUTPUT_BYTES)`
      return { reason: 'tests_output_limit', message: because(`printed more than ${bytes}`) }
    }
    case 'memory_limit': {
      const held = `${config.ASTRA_TEST_MEMORY_MB} MB (ASTRA_TEST_MEMORY_MB)`
      return { reason: 'tests_memory_limit', message: because(`held more than ${held}`) }
    }
    case 'exited':
      return null
  }
}

function notStarted({ command, report }: Ended): Doubt {
  if (report.file !== null) return null
  if (MODULE_MISSING.test(report.stderr)) {
    const message = `pytest was not found: ${runners.pytest.installHint}`
    return { reason: 'runner_missing', message }
  }
  if (!CANNOT_START.has(report.exitCode ?? 0) || !NOT_STARTED.test(report.stderr)) return null
  const why = `${report.stderr.trim()}: toolchains and dependencies have to be readable by others`
  return { reason: 'runner_missing', message: `${command.display} did not start: ${why}` }
}

function doubtOf(
  tests: readonly TestEntry[],
  { exitCode }: RawReport,
  output: string,
  display: string,
): Doubt {
  const failed = tests.filter((test) => test.status === 'failed').length
  const ran = tests.filter((test) => test.status !== 'skipped').length
  if (exitCode === null) {
    return { reason: 'tests_unreadable', message: `${display} was ended by a signal` }
  }
  if (failed > 0 && exitCode === 0) {
    const message = `${display} ended with exit code 0 although ${failed} tests failed`
    return { reason: 'tests_unreadable', message }
  }
  if (ran === 0 && (exitCode === 0 || exitCode === 5 || NO_TESTS.test(output))) {
    const message =
      tests.length > 0 ? `${display} skipped every test (${tests.length})` : noTests(display)
    return { reason: 'no_tests_found', message }
  }
  if (failed === 0 && exitCode !== 0) {
    const message = `${display} ended with exit code ${exitCode} although no test failed`
    return { reason: 'tests_unreadable', message }
  }
  return null
}

function noTests(display: string): string {
  return `${display} ran no test; name the right command in .astra.json: {"command": "..."}`
}

/** For a runner whose only output is its report. */
function failureList(tests: readonly TestEntry[]): string {
  const failed = tests.filter((test) => test.status === 'failed')
  return failed.map((test) => `FAILED ${test.id}\n${test.message}`).join('\n\n')
}
