import type { ChaosResult } from './chaos.ts'
import { findingKinds } from './invariants.ts'
import { lostAttempts } from './requests.ts'
import { medianOf, takeoverSeconds } from './takeover.ts'

export type Report = ReturnType<typeof reportOf>

/** The figures of the table. All findings have to be zero. */
export function reportOf({ seed }: { seed: number }, result: ChaosResult) {
  const { observed, findings } = result
  const runs = observed.flatMap((each) => each.runs)
  const takeovers = observed.flatMap((each) => takeoverSeconds(each.injected, each.runs))
  return {
    seed,
    runs: runs.length,
    fixed: runs.filter((run) => run.view?.status === 'fixed').length,
    faults: countByName(observed.flatMap((each) => each.injected)),
    requests_repeated: runs.reduce((sum, run) => sum + lostAttempts(run.journal).length, 0),
    half_written_files: observed.reduce((sum, each) => sum + each.halfWritten.length, 0),
    must_be_zero: Object.fromEntries(
      findingKinds.map((kind) => [kind, findings.filter((each) => each.kind === kind).length]),
    ),
    takeover_seconds: {
      median: medianOf(takeovers),
      max: takeovers.length > 0 ? Math.max(...takeovers) : null,
    },
    seconds: result.seconds,
    findings,
  }
}

function countByName(injected: readonly { name: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { name } of injected) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** The one table, and below it whatever is not as it must be. */
export function reportText(report: Report): string {
  const seconds = (value: number | null) => (value === null ? '-' : `${value.toFixed(1)} s`)
  const { median, max } = report.takeover_seconds
  const rows: [string, string][] = [
    ['seed', String(report.seed)],
    ['runs', `${report.runs}, ${report.fixed} of them fixed`],
    ...Object.entries(report.faults)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]): [string, string] => [name, String(count)]),
    ['requests sent again', String(report.requests_repeated)],
    ['half-written files', String(report.half_written_files)],
    ...Object.entries(report.must_be_zero).map(([kind, count]): [string, string] => [
      kind,
      String(count),
    ]),
    ['time to take over', `median ${seconds(median)}, at most ${seconds(max)}`],
    ['total time', seconds(report.seconds)],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
  const found = report.findings.map((each) => `${each.where}: ${each.kind}: ${each.message}`)
  return [...table, ...(found.length > 0 ? ['', ...found] : [])].join('\n')
}
