import { narrowed } from '../discovery/narrow-command.ts'
import { parseJestReport } from './jest-report.ts'
import type { TestRunnerAdapter } from './runner.ts'

const OPTIONS = {
  takesValue:
    /^(-[trc]|--(testNamePattern|config|root|dir|project|environment|pool|maxWorkers|minWorkers|testTimeout|hookTimeout|teardownTimeout|retry|mode|exclude|maxConcurrency|slowTestThreshold|configLoader)|--(sequence|poolOptions|browser|typecheck)\.\S+)$/,
  selects: /^--shard$/,
}

export const vitestRunner: TestRunnerAdapter = {
  installHint: 'run `npm install` in the workspace: vitest is not in its node_modules',
  argv: ({ args, reportFile, files }) => [
    'vitest',
    'run',
    ...(files ? narrowed(args, files, OPTIONS) : args),
    // A configuration may end the run at the first failure.
    '--bail=0',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
  ],
  parse: (report) => parseJestReport('vitest', report),
}
