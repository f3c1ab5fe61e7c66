import type { SearchResult } from '../../shared/contracts/memory.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { plain, type Terminal } from './terminal.ts'

/** One record for people. What a model wrote stands in quotation marks. */
export function printRecord({ print }: Terminal, record: MemoryRecord): void {
  const rows: [string, string | null][] = [
    ['memory', record.memory_id],
    ['fix', JSON.stringify(record.fix_description)],
    ['error type', record.error_type],
    ['files', record.file_paths.join(', ')],
    ['outcome', record.outcome],
    ['confirmed', record.timestamp],
    ['session', record.session_id],
    ['repository', record.repository_id],
    ['proof', record.receipt ? `signed with key ${record.receipt.key_id}` : 'none: unproved'],
    ['tests', record.failing_tests.join(', ') || null],
    ['model', record.model],
    ['shown', String(record.shown)],
    ['revoked', record.revoked_at],
    ['replaced by', record.superseded_by],
  ]
  for (const [name, value] of rows) if (value !== null) print(`${name.padEnd(11)} ${plain(value)}`)
  if (record.symptom !== '') print(`\n${plain(record.symptom.trimEnd())}`)
  if (record.diff !== '') print(`\n${plain(record.diff.trimEnd())}`)
}

export function printMatches({ print }: Terminal, { matches, searched }: SearchResult): void {
  if (matches.length === 0) {
    print(`nothing relevant among ${searched} records`)
    return
  }
  for (const match of matches) {
    print(`${match.score.toFixed(4)}  ${match.memory_id}${match.proved ? '' : '  (unproved)'}`)
    print(`        ${JSON.stringify(match.fix_description)}`)
    print(
      `        ${plain(`${match.error_type}; ${match.file_paths.join(', ')}; ${match.outcome}`)}`,
    )
  }
}
