import type { Payload } from '../../shared/contracts/catalog.ts'
import type { StorePayload, StoreResult } from '../../shared/contracts/memory.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import { whenStoreIsBack } from './store-away.ts'

type Store = (payload: StorePayload, context: Pick<JobContext, 'children'>) => Promise<StoreResult>

/** Stores what was accepted while the store was away; throws JobPostponed while it still is. */
export async function storeLater(
  { store: payload, vectors }: Payload<'memory', 'store-later'>,
  context: JobContext,
  store: Store,
): Promise<StoreResult> {
  const children = async () => [{ ok: true as const, value: { vectors } }]
  const result = await whenStoreIsBack(context, () => store(payload, { children }))
  if (!result.stored) context.log.error({ error: result.error }, 'accepted before, refused now')
  return result
}
