import type { Config } from '../../../shared/config.ts'
import type { Runner } from '../../../shared/contracts/receipt.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { TestEntry } from './report.ts'

/** Tests that ran and gave a verdict that their exit code agrees with. */
export type CompletedTests = {
  kind: 'completed'
  command: string
  runner: Runner
  commands: string[]
  tests: TestEntry[]
  exitCode: number
  output: string
  /** Whether the tests ran confined. */
  sandboxed: boolean
  /** How long the command took. */
  ms: number
}

export type TestRunConfig = Pick<
  Config,
  | 'home'
  | 'ASTRA_SHARED_DIR'
  | 'ASTRA_TEST_SECONDS'
  | 'ASTRA_TEST_OUTPUT_BYTES'
  | 'ASTRA_TEST_MEMORY_MB'
> & { sandbox: Sandbox }
