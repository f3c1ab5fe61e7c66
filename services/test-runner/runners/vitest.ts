import { parseJestReport } from './jest-report.ts'
import type { TestRunnerAdapter } from './runner.ts'

export const vitestRunner: TestRunnerAdapter = {
  installHint: 'run `npm install` in the workspace: vitest is not in its node_modules',
  argv: ({ args, reportFile }) => [
    'vitest',
    'run',
    ...args,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
  ],
  parse: (report) => parseJestReport('vitest', report),
}
