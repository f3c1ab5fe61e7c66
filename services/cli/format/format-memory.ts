import type { MemoryState, ProofProblem, SearchResult } from '../../../shared/contracts/memory.ts'
import type { MemoryMatch, MemoryRecord } from '../../../shared/contracts/record.ts'
import type { VerifiedMemory } from '../verify-memory.ts'
import { oneLine, plain, type Terminal, table } from './terminal.ts'

/** One record for people. What a model wrote stands in quotation marks. */
export function printRecord(
  { print }: Terminal,
  record: MemoryRecord,
  { unproved, expired }: { unproved: ProofProblem | null; expired: boolean },
): void {
  const rows: [string, string | null][] = [
    ['memory', record.memory_id],
    ['fix', JSON.stringify(record.fix_description)],
    ['error type', record.error_type],
    ['files', record.file_paths.join(', ')],
    ['outcome', record.outcome],
    ['confirmed', record.timestamp],
    ['session', record.session_id],
    ['repository', record.repository_id],
    ['proof', proofText(record, unproved)],
    ['tests', record.failing_tests.join(', ') || null],
    ['model', record.model],
    ['shown', shownText(record)],
    ['group', record.group],
    ['state', stateOf({ ...record, expired })],
    ['revoked', record.revoked_at],
    ['replaced by', record.superseded_by],
    ['stands for', record.merged.join(', ') || null],
    ['removed', removedText(record)],
  ]
  for (const [name, value] of rows) if (value !== null) print(`${name.padEnd(11)} ${plain(value)}`)
  if (record.symptom !== '') print(`\n${plain(record.symptom.trimEnd())}`)
  if (record.diff !== '') print(`\n${plain(record.diff.trimEnd())}`)
}

/** Whether searches answer with a record, and if not, why; the first reason that holds. */
export function stateOf(
  record: Pick<MemoryRecord, 'revoked_at' | 'superseded_by'> & { expired: boolean },
): MemoryState {
  if (record.revoked_at !== null) return 'revoked'
  if (record.superseded_by !== null) return 'superseded'
  return record.expired ? 'expired' : 'live'
}

function shownText({ shown, confirmed, unconfirmed }: MemoryRecord): string {
  return `${shown} times; runs that saw it: ${confirmed} fixed, ${unconfirmed} not`
}

/** What was taken for a secret before the record was stored. */
function removedText({ scrubbed }: MemoryRecord): string | null {
  return scrubbed.map(({ rule, count }) => `${rule} (${count})`).join(', ') || null
}

function proofText({ receipt }: MemoryRecord, unproved: ProofProblem | null): string {
  if (unproved) return `none, unproved: ${unproved.message}`
  return `proved, signed with key ${receipt?.key_id}`
}

export function printVerified({ print }: Terminal, verified: VerifiedMemory): void {
  const { checked, proved, unproved, records } = verified
  if (records.length > 0) {
    const rows = records.map((each) => [each.memory_id, each.session_id, oneLine(each.message, 90)])
    print(table(['Memory', 'Session', 'Unproved because'], rows))
    const more = checked - proved - records.length
    print(more > 0 ? `and ${more} more: --limit lists up to 1000\n` : '')
  }
  print(`${proved} of ${checked} records are proved`)
  for (const [reason, count] of Object.entries(unproved)) {
    print(`  ${String(count).padStart(6)}  ${reason}`)
  }
}

/** `repositoryId`: the one that the search was limited to. */
export function printMatches(
  { print }: Terminal,
  result: SearchResult,
  repositoryId: string | undefined,
): void {
  const { matches, searched, withheld, error_type_filter } = result
  if (withheld !== null) {
    print(`nothing is answered: ${withheld}`)
    return
  }
  if (matches.length === 0) {
    const whose = repositoryId === undefined ? '' : ` of repository ${repositoryId}`
    print(`nothing relevant among ${searched} records${whose}`)
    return
  }
  if (error_type_filter === 'dropped') print('nothing with this error type; of any type:')
  for (const match of matches) printMatch(print, match)
}

function printMatch(print: Terminal['print'], match: MemoryMatch): void {
  const relevance =
    match.relevance === 'same' ? 'same failure' : 'similar failure, check before use'
  const proof = match.proved ? '' : '  (unproved)'
  print(`${match.probability.toFixed(2)}  ${match.memory_id}  ${relevance}${proof}`)
  const lines = [
    JSON.stringify(match.fix_description),
    `${match.error_type}; ${match.file_paths.join(', ')}; ${match.outcome}`,
    ...match.speaks_for.map((reason) => `for: ${reason}`),
    ...match.speaks_against.map((reason) => `against: ${reason}`),
    ...(match.stale === null ? [] : [`stale: ${match.stale}`]),
  ]
  for (const line of lines) print(`      ${plain(line)}`)
}
