import type { Verification } from '../../../shared/contracts/tests.ts'
import { plain, type Terminal } from './terminal.ts'

const SHOWN = 20

/** A verification for people: the verdict, what was seen, then the receipt. */
export function printVerification(terminal: Terminal, verification: Verification): void {
  const { style, print } = terminal
  const { confirmed, command, failing_before, passing_after, dropped_paths } = verification
  if (confirmed) print(`${style.bold(style.green('proved'))}: ${verification.outcome}`)
  else {
    const verdict = style.bold(style.yellow('not proved'))
    print(`${verdict} (${verification.reason}): ${plain(verification.message)}`)
  }
  if (command) print(`  command ${plain(command)}`)
  list(terminal, 'failing before', failing_before)
  list(terminal, 'passing after', passing_after)
  list(terminal, 'flaky', verification.flaky)
  list(terminal, 'left out', dropped_paths)
  if (dropped_paths.length > 0) print('    tests and their configuration stay as they are')
  if (confirmed) print(`\nreceipt\n${JSON.stringify(verification.receipt, null, 2)}`)
}

function list({ print }: Terminal, title: string, entries: readonly string[]): void {
  if (entries.length === 0) return
  print(`  ${title} (${entries.length})`)
  for (const entry of entries.slice(0, SHOWN)) print(`    ${plain(entry)}`)
  if (entries.length > SHOWN) print(`    and ${entries.length - SHOWN} more`)
}
