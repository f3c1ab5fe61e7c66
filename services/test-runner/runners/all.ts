import type { Runner } from '../../../shared/contracts/receipt.ts'
import { cargoRunner } from './cargo.ts'
import { goRunner } from './go.ts'
import { jestRunner } from './jest.ts'
import { mochaRunner } from './mocha.ts'
import { nodeRunner } from './node.ts'
import { pytestRunner } from './pytest.ts'
import type { TestRunnerAdapter } from './runner.ts'
import { unittestRunner } from './unittest.ts'
import { vitestRunner } from './vitest.ts'

export const runners: Record<Runner, TestRunnerAdapter> = {
  pytest: pytestRunner,
  unittest: unittestRunner,
  node: nodeRunner,
  vitest: vitestRunner,
  jest: jestRunner,
  mocha: mochaRunner,
  go: goRunner,
  cargo: cargoRunner,
}
