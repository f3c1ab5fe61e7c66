import { UnavailableError } from '../../shared/errors.ts'
import { KeyFileError } from '../../shared/keys/key-file.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import { JobPostponed } from '../../shared/queue/consumer.ts'
import { MemoryDatabaseError } from './database-error.ts'

const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 300_000

/**
 * The store does not answer, or refuses what it took before, or no receipt can be checked because a key
 * file is damaged: a person has to look, and time passes.
 */
export function isStoreAway(error: unknown): boolean {
  return [UnavailableError, MemoryDatabaseError, KeyFileError].some((each) => error instanceof each)
}

/** Does work that must not be lost; while the store is away the job waits, longer each time. */
export async function whenStoreIsBack<T>(
  { begunBefore }: Pick<JobContext, 'begunBefore'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!isStoreAway(cause)) throw cause
    const delayMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** begunBefore)
    throw new JobPostponed('the store is away', { delayMs, cause })
  }
}
