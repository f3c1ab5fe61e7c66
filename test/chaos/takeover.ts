import type { Journal } from '../../services/agent-runner/journal/journal.ts'
import type { Injected } from './faults.ts'
import type { ObservedRun } from './observed.ts'

/** For each fault and each run that it hit: seconds until the run's journal went on. */
export function takeoverSeconds(
  injected: readonly Injected[],
  runs: readonly Pick<ObservedRun, 'run_id' | 'journal'>[],
): number[] {
  const progress = new Map(runs.map((run) => [run.run_id, progressOf(run.journal)]))
  return injected.flatMap(({ at, runs: hit }) =>
    hit.flatMap((id) => {
      const times = progress.get(id) ?? []
      const next = times.find((time) => time > at)
      // A run that had not begun yet, or had nothing more to do, was not held up.
      return next === undefined || (times[0] ?? next) > at ? [] : [(next - at) / 1000]
    }),
  )
}

/** When the journal was written to, in order; epoch milliseconds. */
function progressOf(journal: Journal): number[] {
  const single = [journal.start, journal.cancel, journal.deadline, journal.budget, journal.end]
  const keyed = [journal.sent, journal.faults, journal.responses, journal.jobs, journal.outputs]
  const entries = [...single, ...keyed.flatMap((map) => [...map.values()])]
  return entries.flatMap((entry) => (entry ? [Date.parse(entry.at)] : [])).sort((a, b) => a - b)
}

/** The middle value (the lower of two), or null of an empty list. */
export function medianOf(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}
