import type { UnusableTests } from '../../../shared/contracts/tests.ts'

/** Tests that did not get as far as an output. */
export function unusable(reason: UnusableTests['reason'], message: string): UnusableTests {
  return { kind: 'unusable', reason, message, output: '' }
}
