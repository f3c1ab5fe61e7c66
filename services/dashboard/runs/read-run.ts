import { ledgerScopes, type RunCosts, readRunCosts } from '../../../shared/contracts/ledger.ts'
import type { RunLimits } from '../../../shared/contracts/run.ts'
import { type RunView, readRunView } from '../../../shared/contracts/run-view.ts'
import { findQueuedRun } from '../../../shared/queued-runs.ts'
import type { Deps } from '../deps.ts'
import type { PlacedEvent } from './read-events.ts'

export type RunAccess = Pick<Deps, 'redis' | 'producer'>

/** What the head of a run shows: how it stands, and what it may take. */
export type RunState = {
  view: RunView
  costs: RunCosts | null
  /** Runs of before did not tell. */
  limits: RunLimits | null
}

/** Null when nobody ever asked for such a run, or it was too long ago. */
export async function readRun(
  { redis, producer }: RunAccess,
  runId: string,
  limits: RunLimits | null,
): Promise<RunState | null> {
  const view = (await readRunView(redis, runId)) ?? (await findQueuedRun(producer, runId))
  if (!view) return null
  const [live, notional] = ledgerScopes
  const scope = view.cost_is_notional ? notional : live
  return { view, limits, costs: await readRunCosts(redis, scope, runId) }
}

export function limitsIn(events: PlacedEvent[]): RunLimits | null {
  const [details] = events.flatMap(({ event }) =>
    event.details?.kind === 'started' ? [event.details] : [],
  )
  return details?.limits ?? null
}
