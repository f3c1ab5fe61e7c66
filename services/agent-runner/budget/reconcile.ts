import type { Logger } from '../../../shared/logger.ts'
import type { Journal } from '../journal/journal.ts'
import type { JournalStore } from '../journal/journal-store.ts'
import { attemptCost } from '../journal/run-view.ts'
import type { Ledger } from './ledger.ts'

/** Only what crashes left is found here, and that can wait. */
const EVERY_MS = 60_000

type Deps = {
  ledgers: readonly Ledger[]
  journal: Pick<JournalStore, 'load' | 'unfinished'>
  log: Logger
  /** Longer than a request can take: whoever sent one and lives has settled it by then. */
  graceMs: number
}

/**
 * Closes the attempts that runs left open which have ended or are not there any more, and writes
 * evidence that is missing. It never touches a run that goes on, and never releases an attempt that
 * was sent: without a known end that is charged in full. Calls within a minute do nothing.
 */
export function createReconciler(deps: Deps): () => Promise<void> {
  let next = 0
  return async () => {
    if (performance.now() < next) return
    next = performance.now() + EVERY_MS
    for (const ledger of deps.ledgers) await reconcile(deps, ledger)
  }
}

async function reconcile({ journal, log, graceMs }: Deps, ledger: Ledger): Promise<void> {
  await ledger.recoverEvidence()
  const open = await ledger.openRuns(graceMs)
  if (open.length === 0) return
  // Read after the open attempts: a run is listed as unfinished before its first hold.
  const unfinished = new Set(await journal.unfinished())
  for (const runId of open.filter((id) => !unfinished.has(id))) {
    const costs = finalCosts(await journal.load(runId))
    if (!costs) {
      log.error({ runId }, 'a run with an open hold has not ended, but nobody goes on with it')
      continue
    }
    log.warn({ runId }, 'closing what an ended run left open in the ledger')
    await ledger.closeRun(runId, costs)
  }
}

/** What each sent attempt of an ended run cost; nothing for a run that is gone; null while it goes on. */
export function finalCosts(journal: Journal): Map<string, number> | null {
  if (!journal.start) return new Map()
  if (!journal.end) return null
  return new Map(
    [...journal.sent].map(([key, { hold_microusd }]) => [
      key,
      attemptCost(journal, key, hold_microusd) ?? hold_microusd,
    ]),
  )
}
