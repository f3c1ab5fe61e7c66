import {
  brokenFile,
  type FoundTest,
  type ParsedReport,
  type RawReport,
  type TestStatus,
  unreadable,
  withIds,
} from '../run/report.ts'
import type { TestRunnerAdapter } from './runner.ts'

/** cargo has no stable report: its text tells what failed, and no proof rests on it. */
export const cargoRunner: TestRunnerAdapter = {
  installHint: 'install Rust, see https://rustup.rs',
  argv: ({ args }) => ['cargo', 'test', '--offline', '--no-fail-fast', '--color=never', ...args],
  parse,
}

function parse(report: RawReport): ParsedReport {
  const found = [...report.stdout.matchAll(/^test (.+?)(?: - should panic)? \.\.\. (\w+)/gm)].map(
    (match): FoundTest => {
      const suites = (match[1] ?? '').split('::')
      const name = suites.pop() ?? ''
      const status = statusOf(match[2] ?? '')
      const message = status === 'failed' ? failureText(report.stdout, match[1] ?? '') : ''
      return { file: 'Cargo.toml', suites, name, status, message }
    },
  )
  if (found.length > 0) return { readable: true, tests: withIds(found, '::') }
  if (/^error(\[E\d+\])?: /m.test(report.stderr)) {
    const message = report.stderr.slice(report.stderr.search(/^error(\[E\d+\])?: /m))
    return { readable: true, tests: [brokenFile('Cargo.toml', message.slice(0, 8000))] }
  }
  if (/^running 0 tests$/m.test(report.stdout)) return { readable: true, tests: [] }
  return unreadable('cargo test printed no test result')
}

function statusOf(word: string): TestStatus {
  if (word === 'ok') return 'passed'
  return word === 'ignored' ? 'skipped' : 'failed'
}

/** What a failed test printed stands below `---- name stdout ----`, up to the next such line. */
function failureText(stdout: string, test: string): string {
  const start = stdout.indexOf(`---- ${test} stdout ----`)
  if (start < 0) return ''
  const text = stdout.slice(stdout.indexOf('\n', start) + 1)
  const end = text.search(/^(---- .* stdout ----|failures:)$/m)
  return (end < 0 ? text : text.slice(0, end)).trim().slice(0, 8000)
}
