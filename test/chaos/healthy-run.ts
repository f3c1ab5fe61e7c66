import type { ToolCall } from '../../services/agent-runner/journal/entries.ts'
import { addEntry, type Journal } from '../../services/agent-runner/journal/journal.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { EvidenceLine } from '../../shared/contracts/ledger.ts'
import { patchHash } from '../../shared/contracts/patch.ts'
import { sampleView } from '../support/run-view.ts'
import {
  call,
  edit,
  read,
  runRequest,
  SimulatedRun,
  search,
  tests,
  waitFor,
} from '../support/simulated-run.ts'
import type { Observed, ObservedRun, Reference } from './observed.ts'

const HOLD = 100
const COST = 10
const MEMORY_ID = '2e82ea22-ad26-5af0-ae85-199a366b1105'

/** Second `seconds` of the run, as the journal writes it. */
export const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()

const patch = { files: [{ path: 'a.ts', before: sha256('a'), after: 'b' }] }

export const reference: Reference = { patch_hash: patchHash(patch), requests: 4 }
export const references = new Map([['sample', reference]])

/** What each response calls, and what the request before it delivered. Request n leaves at second 10n. */
const turns: { delivers: string[]; calls: ToolCall[] }[] = [
  { delivers: [], calls: [search('c-search'), read('c-read')] },
  { delivers: ['call:c-read'], calls: [waitFor('c-wait', 'c-search')] },
  { delivers: ['call:c-search', 'call:c-wait'], calls: [edit('c-edit'), tests('c-tests')] },
  { delivers: ['call:c-edit', 'call:c-tests'], calls: [call('store_fix_memory', 'c-store')] },
  { delivers: ['call:c-store'], calls: [] },
]

/** A whole run as it is when nothing went wrong. Tests plant one violation each. */
export function healthyRun(): ObservedRun {
  const settled = turns.length * COST
  return {
    run_id: runRequest.run_id,
    project: 'sample',
    journal: healthyJournal(),
    view: sampleView({
      status: 'fixed',
      reason: 'tests_pass',
      patch_hash: patchHash(patch),
      stored_memory_id: MEMORY_ID,
    }),
    patch,
    base: new Map([['a.ts', sha256('a')]]),
    chain: new Map(turns.map((_, i) => [`resp_${i + 1}`, i === 0 ? null : `resp_${i}`])),
    costs: {
      run_id: runRequest.run_id,
      ...{ held: 0, sent: 0, settled },
      limit_microusd: null,
      closed: true,
      attempts: [],
    },
    records: [MEMORY_ID],
    changed: [],
  }
}

export function healthyInstallation(): Observed {
  const run = healthyRun()
  return {
    name: 'sample',
    runs: [run],
    injected: [],
    notReached: [],
    totals: { held: 0, sent: 0, settled: turns.length * COST },
    openAttempts: [],
    evidence: [evidenceLine(1, HOLD), evidenceLine(2, COST)],
    unfinished: [],
    orphans: [],
    leftovers: [],
    halfWritten: [],
  }
}

/** A transition after which the run has that much settled. */
export function evidenceLine(seq: number, settled: number): EvidenceLine {
  const amounts = { held: 0, sent: 0, settled }
  return {
    seq,
    at: at(seq),
    scope: 'notional',
    run: runRequest.run_id,
    attempt: '1.1',
    state: 'settled',
    hold_microusd: HOLD,
    cost_microusd: settled,
    day: '2026-01-01',
    model: 'test',
    totals: { project: amounts, day: amounts, run: amounts },
  }
}

function healthyJournal(): Journal {
  const { journal } = new SimulatedRun()
  for (const key of ['system:baseline', 'call:c-search', 'call:c-tests', 'call:c-store']) {
    addEntry(journal, `job/${key}`, { at: at(1), tree: 0, patch: null })
    journal.inbox.set(key, { ok: true, value: {} })
  }
  addEntry(journal, 'output/call:c-read', { at: at(11), output: '{"content":""}' })
  addEntry(journal, 'output/call:c-edit', { at: at(31), output: '{"path":"a.ts","edited":true}' })
  const { path, before } = { path: 'a.ts', before: sha256('a') }
  addEntry(journal, 'edit/call:c-edit', { path, before, after: sha256('b') })
  for (const [index, turn] of turns.entries()) {
    addSent(journal, `${index + 1}.1`, 10 * (index + 1), turn.delivers)
    addResponse(journal, index + 1, 1, turn.calls)
  }
  const end = { status: 'fixed', reason: 'tests_pass', message: '', final_text: null }
  addEntry(journal, 'end', { at: at(60), ...end })
  return journal
}

export function addSent(journal: Journal, key: string, seconds: number, delivers: string[]): void {
  const entry = { at: at(seconds), hold_microusd: HOLD, delivers, reminder: false }
  addEntry(journal, `sent/${key}`, entry)
}

/** The answer to that attempt, half a second after the request left. */
export function addResponse(
  journal: Journal,
  request: number,
  attempt: number,
  calls: ToolCall[],
): void {
  const tokens = { input_tokens: 1, cached_tokens: 0, cache_write_tokens: 0 }
  addEntry(journal, `response/${request}`, {
    at: at(10 * request + 0.5),
    attempt,
    id: `resp_${request}`,
    status: 'completed',
    detail: null,
    invalid: null,
    calls,
    output: [],
    text: '',
    usage: { ...tokens, output_tokens: 1, reasoning_tokens: 0 },
    cost_microusd: COST,
  })
}
