import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { openEvidence } from '../../services/agent-runner/budget/evidence.ts'
import { createLedger, type Ledger } from '../../services/agent-runner/budget/ledger.ts'
import {
  type Amounts,
  type EvidenceLine,
  evidenceLineSchema,
  type LedgerScope,
  listRunCosts,
  readDayAmounts,
  readProjectAmounts,
} from '../../shared/contracts/ledger.ts'
import { createLogger } from '../../shared/logger.ts'

/** A ledger as an agent-runner has it, with a clock of the test's own. */
export function openLedger(
  redis: Redis,
  home: string,
  options: { scope?: LedgerScope; model?: string; now?: () => Date } = {},
): Ledger {
  return createLedger(redis, {
    scope: options.scope ?? 'live',
    model: options.model ?? 'gpt-6-astra',
    evidence: openEvidence(home),
    log: createLogger('ledger-test', 'silent'),
    now: options.now ?? (() => new Date()),
  })
}

/** All transitions of a scope that the files tell of, in order; a line that is there twice once. */
export async function readEvidence(home: string, scope: LedgerScope): Promise<EvidenceLine[]> {
  const bySeq = new Map<number, EvidenceLine>()
  const files = await readdir(join(home, 'ledger'))
  for (const file of files) {
    const text = await readFile(join(home, 'ledger', file), 'utf8')
    for (const line of text.split('\n').filter(Boolean)) {
      const parsed = evidenceLineSchema.parse(JSON.parse(line))
      if (parsed.scope === scope) bySeq.set(parsed.seq, parsed)
    }
  }
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq)
}

const none = (): Amounts => ({ held: 0, sent: 0, settled: 0 })

/** What the last known state of each attempt adds up to. */
export function sumOf(
  attempts: Iterable<Pick<EvidenceLine, 'state' | 'hold_microusd' | 'cost_microusd'>>,
): Amounts {
  const sum = none()
  for (const { state, hold_microusd, cost_microusd } of attempts) {
    if (state === 'held' || state === 'sent') sum[state] += hold_microusd
    if (state === 'settled') sum.settled += cost_microusd
  }
  return sum
}

export const add = (all: Amounts[]): Amounts =>
  all.reduce(
    (a, b) => ({ held: a.held + b.held, sent: a.sent + b.sent, settled: a.settled + b.settled }),
    none(),
  )

/** Four ways to the same totals: they have to be equal. */
export async function allTotals(redis: Redis, home: string, scope: LedgerScope, days: string[]) {
  const runs = await listRunCosts(redis, scope, days.at(-1) ?? '')
  const last = new Map<string, EvidenceLine>()
  const lines = await readEvidence(home, scope)
  for (const line of lines) last.set(`${line.run} ${line.attempt}`, line)
  return {
    project: await readProjectAmounts(redis, scope),
    days: add(await readDayAmounts(redis, scope, days)),
    runs: add(runs.map(({ held, sent, settled }) => ({ held, sent, settled }))),
    attempts: sumOf(runs.flatMap((run) => run.attempts)),
    evidence: sumOf(last.values()),
    lastLine: lines.at(-1)?.totals.project,
    seqs: lines.map((line) => line.seq),
  }
}
