import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { productRoot } from '../../shared/config.ts'
import { connect } from '../../shared/queue/connection.ts'
import { consume } from '../../shared/queue/consumer.ts'
import { loadSigningKey } from '../../shared/receipt.ts'
import { runService } from '../../shared/service.ts'
import { baseline } from './baseline.ts'
import { killAbandoned } from './process-tree.ts'
import { run } from './run.ts'
import { removeAbandonedFolders } from './test-folder.ts'
import { verify } from './verify.ts'

await runService('test-runner', async ({ config, log }) => {
  const killed = await killAbandoned(config.home)
  if (killed > 0) log.warn({ killed }, 'ended what an earlier test-runner left behind')
  await removeAbandonedFolders(config.home)
  const packageJson = JSON.parse(readFileSync(join(productRoot, 'package.json'), 'utf8'))
  const deps = {
    config,
    signingKey: loadSigningKey(config.home),
    productVersion: z.object({ version: z.string() }).parse(packageJson).version,
  }
  const redis = connect(config.redis)
  const consumer = consume(
    'tests',
    {
      baseline: (payload, { signal }) => baseline(payload, { config, signal }),
      run: (payload, { signal }) => run(payload, { ...deps, signal }),
      verify: (payload, { signal }) => verify(payload, { ...deps, signal }),
    },
    { redis, log, concurrency: config.ASTRA_TEST_CONCURRENCY },
  )
  return {
    async close(deadlineMs) {
      await consumer.close(deadlineMs)
      redis.disconnect()
    },
  }
})
