import { narrowed } from '../discovery/narrow-command.ts'
import { parseJestReport } from './jest-report.ts'
import type { TestRunnerAdapter } from './runner.ts'

const OPTIONS = {
  takesValue:
    /^(-[ctw]|--(config|testNamePattern|maxWorkers|env|testEnvironment|testTimeout|rootDir|roots|projects|selectProjects|ignoreProjects|setupFiles|setupFilesAfterEnv|testPathIgnorePatterns|modulePathIgnorePatterns|moduleFileExtensions|testMatch|testRegex|preset|resolver|runner|testRunner|globals|transform|seed|maxConcurrency|workerThreads|cacheDirectory))$/,
  selects: /^--(testPathPatterns?|shard)$/,
}

export const jestRunner: TestRunnerAdapter = {
  installHint: 'run `npm install` in the workspace: jest is not in its node_modules',
  argv: ({ args, reportFile, files }) => [
    // watchman is a daemon that would outlive the tests.
    'jest',
    ...(files ? ['--runTestsByPath', ...narrowed(args, files, OPTIONS)] : args),
    '--ci',
    // A configuration may end the run at the first failure.
    '--bail=0',
    '--no-watchman',
    '--json',
    '--testLocationInResults',
    `--outputFile=${reportFile}`,
  ],
  parse: (report) => parseJestReport('jest', report),
  // With --json the report is on stdout when no file is named, and people's text is on stderr.
  readableOutput: (stdout) => (stdout.trimStart().startsWith('{') ? '' : stdout),
}
