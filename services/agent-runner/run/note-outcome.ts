import { jobIdOf } from '../../../shared/contracts/ids.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import type { Deps } from '../deps.ts'
import type { Journal } from '../journal/journal.ts'
import { recallOf } from '../journal/run-view.ts'
import type { Run } from './run.ts'

type Outcome = 'confirmed' | 'unconfirmed'

/**
 * Has the memory count how an ended run that was shown records ended. The job's id and what it counts
 * follow from the run, so this may be repeated; while the memory is away the job waits.
 */
export async function noteOutcome(deps: Pick<Deps, 'producer'>, run: Run): Promise<void> {
  const outcome = outcomeFor(run.journal)
  const memory_ids = recallOf(run.journal).returned.map(({ memory_id }) => memory_id)
  if (outcome === null || memory_ids.length === 0) return
  const payload = { run_id: run.runId, memory_ids, outcome }
  const jobId = jobIdOf('note-outcome', run.runId)
  await deps.producer.add('memory', 'note-outcome', payload, { jobId })
  crashPoint('agent.outcome-added')
}

/** Null where the end says nothing about what was recalled: nobody had acted on it yet, or a person chose it. */
export function outcomeFor({ end, edits }: Pick<Journal, 'end' | 'edits'>): Outcome | null {
  switch (end?.status) {
    case 'fixed':
      return 'confirmed'
    case 'not_fixed':
      return 'unconfirmed'
    case 'limit_reached':
    case 'failed':
      return edits.size > 0 ? 'unconfirmed' : null
    default:
      return null
  }
}
