import { parseJestReport } from './jest-report.ts'
import type { TestRunnerAdapter } from './runner.ts'

export const jestRunner: TestRunnerAdapter = {
  installHint: 'run `npm install` in the workspace: jest is not in its node_modules',
  argv: ({ args, reportFile }) => [
    // watchman is a daemon that would outlive the tests.
    'jest',
    ...args,
    '--ci',
    '--no-watchman',
    '--json',
    '--testLocationInResults',
    `--outputFile=${reportFile}`,
  ],
  parse: (report) => parseJestReport('jest', report),
  // With --json the report is on stdout when no file is named, and people's text is on stderr.
  readableOutput: (stdout) => (stdout.trimStart().startsWith('{') ? '' : stdout),
}
