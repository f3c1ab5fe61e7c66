import { expect, it } from 'vitest'
import { emptyJournal } from '../../services/agent-runner/journal/journal.ts'
import { outcomeFor } from '../../services/agent-runner/run/note-outcome.ts'
import type { RunReason, RunStatus } from '../../shared/contracts/run.ts'

const at = '2026-11-01T10:00:00.000Z'
const edit = { path: 'a.ts', before: 'x', after: 'y' }

const cases: [RunStatus, RunReason, edited: boolean, counted: string | null][] = [
  ['fixed', 'tests_pass', true, 'confirmed'],
  ['not_fixed', 'tests_fail', true, 'unconfirmed'],
  ['not_fixed', 'no_edit', false, 'unconfirmed'],
  ['limit_reached', 'max_requests', true, 'unconfirmed'],
  ['limit_reached', 'max_requests', false, null],
  ['failed', 'model_error', true, 'unconfirmed'],
  ['failed', 'memory_gate', false, null],
  ['cancelled', 'cancelled_by_user', true, null],
  ['cancelled', 'cancelled_by_user', false, null],
  ['refused', 'no_api_key', false, null],
  ['nothing_to_fix', 'tests_already_green', false, null],
]

it.each(cases)(
  'a run that ended %s (%s), edited: %s, counts what it was shown as %s',
  (status, reason, edited, counted) => {
    const journal = emptyJournal()
    expect(outcomeFor(journal)).toBeNull()
    journal.end = { at, status, reason, message: '', final_text: null }
    if (edited) journal.edits.set('call:1', edit)
    expect(outcomeFor(journal)).toBe(counted)
  },
)
