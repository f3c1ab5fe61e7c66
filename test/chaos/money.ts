import type { Journal } from '../../services/agent-runner/journal/journal.ts'
import type { Observed, ObservedRun } from './observed.ts'

/** The total is the sum of the runs, and nothing of it is open. */
export function totalsProblems({ totals, runs }: Observed): string[] {
  const open = totals.held + totals.sent
  const settled = runs.reduce((sum, run) => sum + (run.costs?.settled ?? 0), 0)
  return [
    ...(open === 0 ? [] : [`${open} micro-dollars are still held or sent`]),
    ...(totals.settled === settled
      ? []
      : [`the total is ${totals.settled}, the runs make ${settled} micro-dollars`]),
  ]
}

/** The evidence has no gap, and at no moment was a run beyond its budget. */
export function evidenceProblems({ evidence, runs }: Observed): string[] {
  const seqs = new Set(evidence.map((line) => line.seq))
  const last = Math.max(0, ...seqs)
  const limits = new Map(runs.map((run) => [run.run_id, budgetOf(run)]))
  const over = evidence.filter(({ run, totals: { run: now } }) => {
    return now.held + now.sent + now.settled > (limits.get(run) ?? 0)
  })
  return [
    ...(seqs.size === last ? [] : [`${last - seqs.size} transitions left no evidence`]),
    ...over.map((line) => `run ${line.run} was over its budget at transition ${line.seq}`),
  ]
}

const budgetOf = ({ journal }: ObservedRun) => journal.start?.request.limits.budget_microusd ?? 0

/** What the ledger says was spent is what the journal says, and no more than was allowed. */
export function costProblems(run: ObservedRun): string[] {
  const { journal, costs } = run
  if (!costs) return journal.sent.size === 0 ? [] : ['the ledger does not know it']
  const open = costs.held + costs.sent
  const cost = [...journal.sent].reduce(
    (sum, [key, sent]) => sum + costOf(journal, key, sent.hold_microusd),
    0,
  )
  return [
    ...(open === 0 ? [] : [`${open} micro-dollars are still held or sent`]),
    ...(costs.settled === cost ? [] : [`settled ${costs.settled}, but the journal has ${cost}`]),
    ...(costs.settled <= budgetOf(run) ? [] : [`settled ${costs.settled} of ${budgetOf(run)}`]),
  ]
}

/** An attempt whose end nobody knows costs all that was held for it. */
function costOf(journal: Journal, key: string, hold: number): number {
  const [request = '', attempt = ''] = key.split('.')
  const response = journal.responses.get(request)
  if (response?.attempt === Number(attempt)) return response.cost_microusd
  const fault = journal.faults.get(key)
  return fault && !fault.charged ? 0 : hold
}
