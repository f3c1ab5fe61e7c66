import type { Journal } from '../../services/agent-runner/journal/journal.ts'
import type { Amounts, EvidenceLine, RunCosts } from '../../shared/contracts/ledger.ts'
import type { Patch } from '../../shared/contracts/patch.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import type { Injected } from './faults.ts'

/** What a run left behind, read from every place that knows of it. */
export type ObservedRun = {
  run_id: string
  project: string
  journal: Journal
  view: RunView | null
  /** The patch that the view offers, or null when it is missing or altered. */
  patch: Patch | null
  /** SHA-256 of the files of the run's base, by path. */
  base: Map<string, string>
  /** The answers that the stand-in kept, by response id: the id that each goes on from. */
  chain: Map<string, string | null>
  /** What the ledger has of it, or null when it knows nothing. */
  costs: RunCosts | null
  /** Ids of the records of this session. */
  records: string[]
  /** Files of the workspace that are not as they were before. */
  changed: string[]
}

/** One installation after its end. */
export type Observed = {
  name: string
  runs: ObservedRun[]
  injected: Injected[]
  /** Crash points that were asked for and at which nothing died. */
  notReached: string[]
  totals: Amounts
  /** Attempts whose money is still held or sent. */
  openAttempts: string[]
  /** The ledger's evidence, with what waited to be written. */
  evidence: EvidenceLine[]
  /** Jobs and runs that still waited for something when all should have been over. */
  unfinished: string[]
  orphans: string[]
  /** What is left in the temporary folder. */
  leftovers: string[]
  /** Files of killed writers: nobody reads them, they go with their folder. */
  halfWritten: string[]
}

/** What a run of the project comes to without any fault. */
export type Reference = { patch_hash: string; requests: number }
