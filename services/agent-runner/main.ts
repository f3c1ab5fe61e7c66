import { openBlobs } from '../../shared/blobs/blobs.ts'
import { keepRemoving } from '../../shared/blobs/remove-unused.ts'
import { connect, connectOrFail } from '../../shared/queue/connection.ts'
import { consume } from '../../shared/queue/consumer.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { requireSafeRedis } from '../../shared/queue/require-safe-redis.ts'
import { secretsOf } from '../../shared/scrub/known-secrets.ts'
import { createScrubber } from '../../shared/scrub/scrubber.ts'
import { runService } from '../../shared/service.ts'
import { createReconciler } from './budget/reconcile.ts'
import type { Deps } from './deps.ts'
import { cancelRun } from './handlers/cancel-run.ts'
import { deliverResult } from './handlers/deliver-result.ts'
import { startRun } from './handlers/start-run.ts'
import { SWEEP_EVERY_MS, sweepRuns } from './handlers/sweep-runs.ts'
import { wakeRun } from './handlers/wake-run.ts'
import { createJournalStore } from './journal/journal-store.ts'
import { createLedgers, modelAccess } from './model/access.ts'

await runService('agent-runner', async ({ config, log }) => {
  const redis = connect(config.redis)
  await requireSafeRedis(redis)
  const producer = createProducer(redis)
  const journal = createJournalStore(redis)
  // While Redis is away nothing may be spent: the ledger's commands fail then, they do not wait.
  const ledgerRedis = connectOrFail(config.redis)
  ledgerRedis.on('error', (error) => log.debug({ err: error }, 'no connection for the ledger'))
  const ledgers = createLedgers(config, ledgerRedis, log)
  const blobs = openBlobs(config)
  const deps: Deps = {
    config,
    blobs,
    journal,
    producer,
    scrub: createScrubber(secretsOf(config)),
    model: modelAccess(config, ledgers),
    ledgers,
    reconcile: createReconciler({
      ledgers: Object.values(ledgers),
      journal,
      log,
      graceMs: (config.ASTRA_REQUEST_SECONDS + 60) * 1000,
    }),
  }
  const removing = keepRemoving(config, log)
  const runs = consume(
    'runs',
    {
      start: (payload, context) => startRun(deps, payload, context),
      wake: (payload, context) => wakeRun(deps, payload, context),
      cancel: (payload, context) => cancelRun(deps, payload, context),
      sweep: () => sweepRuns(deps),
    },
    { redis, log, concurrency: config.ASTRA_RUN_CONCURRENCY },
  )
  const results = consume(
    'tool-results',
    { deliver: (payload, context) => deliverResult(deps, payload, context) },
    { redis, log, concurrency: config.ASTRA_RUN_CONCURRENCY },
  )
  await producer
    .queue('runs')
    .upsertJobScheduler(
      'sweep',
      { every: SWEEP_EVERY_MS },
      { name: 'sweep', data: {}, opts: { removeOnComplete: 10, removeOnFail: 10 } },
    )
  return {
    async close(deadlineMs) {
      await Promise.all([runs.close(deadlineMs), results.close(deadlineMs)])
      await producer.close()
      removing.stop()
      blobs?.close()
      redis.disconnect()
      ledgerRedis.disconnect()
    },
  }
})
