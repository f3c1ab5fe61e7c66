import { openBlobs } from '../../shared/blobs/blobs.ts'
import { keepRemoving } from '../../shared/blobs/remove-unused.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { productVersion } from '../../shared/product-version.ts'
import { connect } from '../../shared/queue/connection.ts'
import { consume, type JobContext, JobPostponed } from '../../shared/queue/consumer.ts'
import { isRedisFault } from '../../shared/queue/redis-fault.ts'
import { runService } from '../../shared/service.ts'
import { watchCancellations } from './cancellations.ts'
import { removeAbandonedFolders } from './copy/test-folder.ts'
import { baseline } from './handlers/baseline.ts'
import { run } from './handlers/run.ts'
import { verify } from './handlers/verify.ts'
import type { VerifyDeps } from './proof/verify-request.ts'
import { killAbandoned } from './run/process-tree.ts'
import { chooseSandbox } from './sandbox/choose-sandbox.ts'
import { removeAbandonedCgroups } from './sandbox/memory-cgroup.ts'

await runService('test-runner', async ({ config, log }) => {
  const killed = await killAbandoned(config.home)
  if (killed > 0) log.warn({ killed }, 'ended what an earlier test-runner left behind')
  await removeAbandonedFolders(config.home)
  await removeAbandonedCgroups(config.home)
  const sandbox = chooseSandbox(config, process.argv.slice(2))
  const problem = await sandbox.problem()
  if (problem) log.error({ problem }, 'no test will run')
  if (!sandbox.isSandbox) log.warn('tests run without a sandbox, with the rights of this process')
  // Made at the first start; a damaged one is told before any test runs.
  loadSigningKey(config.home)
  const blobs = openBlobs(config)
  const deps = {
    config: { ...config, sandbox },
    blobs,
    productVersion: productVersion(),
  }
  const redis = connect(config.redis)
  const cancellations = await watchCancellations(redis, log)
  const stoppable =
    <P extends { run_id: string }, R>(handler: (payload: P, deps: VerifyDeps) => Promise<R>) =>
    (payload: P, context: JobContext) =>
      cancellations
        .unlessCancelled(payload.run_id, context.signal, (signal) =>
          handler(payload, { ...deps, signal }),
        )
        .catch(untilRedisIsBack)
  const removing = keepRemoving(config, log)
  const consumer = consume(
    'tests',
    { baseline: stoppable(baseline), run: stoppable(run), verify: stoppable(verify) },
    { redis, log, concurrency: config.ASTRA_TEST_CONCURRENCY },
  )
  return {
    async close(deadlineMs) {
      await consumer.close(deadlineMs)
      cancellations.close()
      removing.stop()
      blobs?.close()
      redis.disconnect()
    },
  }
})

/** What a run needs comes through Redis: while that is away a job loses none of its tries. */
function untilRedisIsBack(cause: unknown): never {
  if (!isRedisFault(cause)) throw cause
  throw new JobPostponed('what the tests need is in Redis, which is away', {
    delayMs: 2_000,
    cause,
  })
}
