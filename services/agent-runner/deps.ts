import type { Blobs } from '../../shared/blobs/blobs.ts'
import type { Config } from '../../shared/config.ts'
import type { RunMode } from '../../shared/contracts/run.ts'
import type { Producer } from '../../shared/queue/producer.ts'
import type { Scrubber } from '../../shared/scrub/scrubber.ts'
import type { Ledger, Ledgers, Limits } from './budget/ledger.ts'
import type { ModelSettings } from './journal/entries.ts'
import type { JournalStore } from './journal/journal-store.ts'
import type { ModelClient } from './model/client.ts'
import type { Prices } from './model/prices.ts'

/** Whom a run talks to and what it pays, by its mode. */
export type ModelAccess = {
  client: ModelClient
  settings: ModelSettings
  prices: Prices
  /** Requests work at the service while nobody is connected, and are fetched when they are done. */
  background: boolean
  /** How long one request may take. */
  timeoutMs: number
  ledger: Ledger
  /** What holds may reach, in micro-dollars, for a run with that budget. */
  limits(runBudgetMicrousd: number): Limits
}

/** What the agent-runner's handlers are given; nothing of it is looked up elsewhere. */
export type Deps = {
  config: Config
  /** What other machines of the fleet are handed; null where there are none. */
  blobs: Blobs | null
  journal: JournalStore
  producer: Producer
  /** Takes secrets out of what goes to the memory. */
  scrub: Scrubber
  /** Null when this mode cannot be used here: such runs were refused at their start. */
  model(mode: RunMode): ModelAccess | null
  /** Of both modes, also of one that cannot be used here (any more). */
  ledgers: Ledgers
  /** Closes what crashes left open in the ledgers; cheap to call often. */
  reconcile(): Promise<void>
}
