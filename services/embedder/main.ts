import { resolve } from 'node:path'
import { connect } from '../../shared/queue/connection.ts'
import { consume } from '../../shared/queue/consumer.ts'
import { runService } from '../../shared/service.ts'
import { embedTexts } from './embed-texts.ts'
import { bundledModel, loadModel } from './model.ts'

/**
 * Jobs under way at once. One thread computes for all of them; several, so that short jobs pass
 * long ones and the next text is there when the last is done.
 */
const CONCURRENCY = 8

await runService('embedder', async ({ config, log }) => {
  const embed = await loadModel(resolve(config.EMBEDDING_MODEL_PATH ?? bundledModel))
  const redis = connect(config.redis)
  const consumer = consume(
    'embeddings',
    { embed: (payload, context) => embedTexts(payload, context, embed) },
    { redis, log, concurrency: CONCURRENCY },
  )
  return {
    async close(deadlineMs) {
      await consumer.close(deadlineMs)
      redis.disconnect()
    },
  }
})
