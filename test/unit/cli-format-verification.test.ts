import { expect, it } from 'vitest'
import { printVerification } from '../../services/cli/format/format-verification.ts'
import { createTerminal } from '../../services/cli/format/terminal.ts'
import type { Verification } from '../../shared/contracts/tests.ts'

const refused: Verification = {
  confirmed: false,
  command: 'pytest -q',
  reason: 'only_flaky',
  message: 'it failed \u001b[31monce\u001b[0m',
  failing_before: Array.from({ length: 25 }, (_, n) => `test-${n}`),
  passing_after: [],
  flaky: ['test-3'],
  dropped_paths: ['tests/test_a.py'],
}

function printed(verification: Verification): string {
  const lines: string[] = []
  printVerification({ ...createTerminal({}), print: (line) => void lines.push(line) }, verification)
  return lines.join('\n')
}

it('shows of a refusal its reason, what was seen, what is flaky and what was left out', () => {
  const text = printed(refused)
  expect(text).toContain('(only_flaky): it failed once\n  command pytest -q\n')
  expect(text).toContain('  failing before (25)\n    test-0\n')
  expect(text).toContain('    test-19\n    and 5 more\n')
  expect(text).toContain('  flaky (1)\n    test-3\n')
  expect(text).toContain('  left out (1)\n    tests/test_a.py\n')
  expect(text).not.toContain('passing after')
  expect(text).not.toContain('receipt')
})
