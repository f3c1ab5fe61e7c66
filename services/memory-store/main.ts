import type { StorePayload } from '../../shared/contracts/memory.ts'
import { connect } from '../../shared/queue/connection.ts'
import { consume, type JobContext } from '../../shared/queue/consumer.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { secretsOf } from '../../shared/scrub/known-secrets.ts'
import { createScrubber } from '../../shared/scrub/scrubber.ts'
import { runService } from '../../shared/service.ts'
import { chooseBackend } from './choose-backend.ts'
import { deleteMemory } from './delete-memory.ts'
import { exportMemory } from './export-memory.ts'
import { getMemory } from './get-memory.ts'
import { importMemory } from './import-memory.ts'
import { noteOutcome } from './lifecycle/note-outcome.ts'
import { policyOf } from './lifecycle/policy.ts'
import { restoreMemory } from './lifecycle/restore-memory.ts'
import { revokeMemory } from './lifecycle/revoke-memory.ts'
import { supersedeMemory } from './lifecycle/supersede-memory.ts'
import { listMemory } from './list-memory.ts'
import { searchMemory } from './search-memory.ts'
import { whenStoreIsBack } from './store-away.ts'
import { storeLater } from './store-later.ts'
import { storeMemory } from './store-memory.ts'
import { storeOrWait } from './store-or-wait.ts'
import { verifyMemory } from './verify-memory.ts'

/** The store's calls block; more jobs at once only overlap their waits for Redis. */
const CONCURRENCY = 8

await runService('memory-store', async ({ config, log }) => {
  const backend = await chooseBackend(config, log)
  const deps = {
    backend,
    home: config.home,
    policy: policyOf(config),
    scrub: createScrubber(secretsOf(config)),
  }
  const redis = connect(config.redis)
  const producer = createProducer(redis)
  const store = (payload: StorePayload, context: Pick<JobContext, 'children'>) =>
    storeMemory(payload, context, deps)
  const consumer = consume(
    'memory',
    {
      search: (payload, context) => searchMemory(payload, context, deps),
      store: (payload, context) => storeOrWait(payload, context, { ...deps, store, producer }),
      'store-later': (payload, context) => storeLater(payload, context, store),
      get: (payload) => getMemory(payload, deps),
      list: (payload) => listMemory(payload, deps),
      verify: (payload, context) => verifyMemory(payload, context, deps),
      delete: (payload) => deleteMemory(payload, backend),
      revoke: (payload) => revokeMemory(payload, backend),
      restore: (payload) => restoreMemory(payload, backend),
      supersede: (payload) => supersedeMemory(payload, backend),
      'note-outcome': (payload, context) =>
        whenStoreIsBack(context, () => noteOutcome(payload, backend)),
      export: (payload) => exportMemory(payload, backend),
      import: (payload, context) => importMemory(payload, context, deps),
    },
    { redis, log, concurrency: CONCURRENCY },
  )
  return {
    async close(deadlineMs) {
      await consumer.close(deadlineMs)
      await producer.close()
      redis.disconnect()
      await backend.close()
    },
  }
})
