import { setImmediate as otherWork } from 'node:timers/promises'

/** How long one piece of work may hold the event loop: jobs, locks and Redis wait meanwhile. */
const SLICE_MS = 4

export type Pace = { readonly isDue: boolean; breathe(): Promise<void> }

/** For long work, which asks as it goes whether others are due, and lets them have their turn. */
export function createPace(): Pace {
  let since = performance.now()
  return {
    get isDue() {
      return performance.now() - since >= SLICE_MS
    },
    async breathe() {
      await otherWork()
      since = performance.now()
    },
  }
}
