import type { CompletedTests } from './completed-tests.ts'

export const isRed = (run: CompletedTests) => run.tests.some((test) => test.status === 'failed')

/** What every answer about completed tests says. */
export function counted(run: CompletedTests) {
  const count = (status: string) => run.tests.filter((test) => test.status === status).length
  return {
    command: run.command,
    runner: run.runner,
    passed: count('passed'),
    failed: count('failed'),
    output: run.output,
  }
}
