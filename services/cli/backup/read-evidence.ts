import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  type EvidenceLine,
  evidenceLineSchema,
  type LedgerScope,
} from '../../../shared/contracts/ledger.ts'
import {
  amountsOf,
  combine,
  type LedgerAttempt,
  type LedgerRun,
  type LedgerState,
  nothing,
  sum,
} from './ledger-state.ts'

const DAY_FILE = /^\d{4}-\d\d-\d\d\.jsonl$/

export async function evidenceFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.filter((name) => DAY_FILE.test(name)).sort()
}

/**
 * The ledger that the evidence in a folder tells of: the state of each attempt after its last
 * transition, and their sums. Lines that a full disk cut off are passed over.
 */
export async function readEvidence(folder: string): Promise<Record<LedgerScope, LedgerState>> {
  const last = { live: new Map<string, EvidenceLine>(), notional: new Map<string, EvidenceLine>() }
  for (const name of await evidenceFiles(folder)) {
    for await (const text of createInterface({ input: createReadStream(join(folder, name)) })) {
      const line = parseLine(text)
      if (line) keepLast(last[line.scope], line)
    }
  }
  return { live: stateOf(last.live), notional: stateOf(last.notional) }
}

function parseLine(text: string): EvidenceLine | null {
  try {
    return evidenceLineSchema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

function keepLast(lines: Map<string, EvidenceLine>, line: EvidenceLine): void {
  const key = `${line.run} ${line.attempt}`
  const known = lines.get(key)
  if (!known || known.seq < line.seq) lines.set(key, line)
}

function stateOf(lines: ReadonlyMap<string, EvidenceLine>): LedgerState {
  const state: LedgerState = {
    seq: 0,
    project: nothing(),
    days: new Map(),
    runs: new Map(),
    outbox: new Map(),
  }
  for (const line of lines.values()) {
    const attempt = { ...line, at: Date.parse(line.at) }
    const amounts = amountsOf(attempt)
    state.seq = Math.max(state.seq, line.seq)
    state.project = combine(state.project, amounts, sum)
    state.days.set(line.day, combine(state.days.get(line.day) ?? nothing(), amounts, sum))
    addAttempt(state.runs, line.run, attempt)
  }
  return state
}

function addAttempt(
  runs: Map<string, LedgerRun>,
  id: string,
  { attempt, state, hold_microusd, cost_microusd, day, model, at }: LedgerAttempt,
): void {
  const run = runs.get(id) ?? { lastHold: 0, limit: null, closed: null, attempts: new Map() }
  run.lastHold = Math.max(run.lastHold, at)
  run.attempts.set(attempt, { attempt, state, hold_microusd, cost_microusd, day, model, at })
  runs.set(id, run)
}
