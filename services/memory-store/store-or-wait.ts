import { jobIdOf, memoryIdOf } from '../../shared/contracts/ids.ts'
import type { StorePayload, StoreResult } from '../../shared/contracts/memory.ts'
import { encodeVector } from '../../shared/contracts/vector.ts'
import { errorText } from '../../shared/errors.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import type { Producer } from '../../shared/queue/producer.ts'
import { scrubStore } from '../../shared/scrub/scrub-store.ts'
import type { Scrubber } from '../../shared/scrub/scrubber.ts'
import { childVectors } from './child-vectors.ts'
import { isStoreAway } from './store-away.ts'

type Store = (payload: StorePayload, context: Pick<JobContext, 'children'>) => Promise<StoreResult>

/**
 * Stores, or, while the store is away, puts a job in the queue that does it when the store is back:
 * a run does not wait for that, and what it has confirmed is not lost. Throws UnavailableError when
 * there are no vectors, as there is nothing to store then.
 */
export async function storeOrWait(
  payload: StorePayload,
  context: Pick<JobContext, 'children' | 'log'>,
  { store, producer, scrub }: { store: Store; producer: Producer; scrub: Scrubber },
): Promise<StoreResult> {
  try {
    return await store(payload, context)
  } catch (error) {
    if (!isStoreAway(error)) throw error
    const vectors = await childVectors(context, 2)
    const clean = await scrubStore(payload, scrub)
    const { session_id, claim } = clean
    const memory_id = memoryIdOf({ session_id, ...claim })
    const later = { store: clean, vectors: vectors.map(encodeVector) }
    const jobId = jobIdOf('store-later', memory_id, String(payload.confirmed_at))
    await producer.add('memory', 'store-later', later, { jobId })
    context.log.warn({ memory_id, error: errorText(error) }, 'the store is away: stored later')
    return { stored: true, memory_id, waiting: true }
  }
}
