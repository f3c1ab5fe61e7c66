import { setTimeout } from 'node:timers/promises'
import { UnavailableError } from '../../../shared/errors.ts'

/** What a failed request means. A `final` one is thrown as it is. */
export type Fault = 'busy' | 'away' | 'final'

/** A server that starts or is loaded says so, and gets time; one that is away keeps nobody waiting. */
const PAUSES_MS = { busy: [500, 1000, 2000, 4000, 8000], away: [250, 1000], final: [] }

/**
 * Makes a request until it succeeds, as long as that is worth it. It may be made more than once, so
 * its effect has to be the same each time. Throws UnavailableError when the server stays away.
 */
export async function persist<T>(
  server: string,
  request: () => Promise<T>,
  { faultOf, closing }: { faultOf: (error: unknown) => Fault; closing: AbortSignal },
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await request()
    } catch (error) {
      const fault = faultOf(error)
      if (fault === 'final') throw error
      const pause = PAUSES_MS[fault][attempt]
      if (pause === undefined || closing.aborted) {
        throw new UnavailableError(`${server} does not answer`, { cause: error })
      }
      await setTimeout(pause, undefined, { signal: closing })
    }
  }
}
