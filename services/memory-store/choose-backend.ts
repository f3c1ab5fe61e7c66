import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Config } from '../../shared/config.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { errorText, UnavailableError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/logger.ts'
import type { MemoryBackend } from './backend.ts'
import { createQdrantBackend } from './qdrant/qdrant-backend.ts'
import { createSqliteBackend } from './sqlite/reopening-backend.ts'
import { createVectoraiBackend } from './vectorai/vectorai-backend.ts'

/** How long a start waits for a server that may only be slow. */
const REACH_MS = 5_000

/**
 * The store that ASTRA_STORE names. Throws MemoryDatabaseError for one that must not be used. A
 * store that is away (a server, a disk) is no reason not to start: it is asked again with each job.
 */
export async function chooseBackend(config: Config, log: Logger): Promise<MemoryBackend> {
  const backend = backendOf(config)
  try {
    await Promise.race([backend.reach(), setTimeout(REACH_MS, undefined, { ref: false })])
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error
    log.warn({ error: errorText(error) }, 'the memory is unavailable')
  }
  return backend
}

function backendOf(config: Config) {
  if (config.ASTRA_STORE === 'sqlite') {
    const file = join(config.home, 'memory', 'memory.db')
    return createSqliteBackend({ file, dimensions: DIMENSIONS })
  }
  const common = { collection: config.ASTRA_COLLECTION, dimensions: DIMENSIONS }
  return config.ASTRA_STORE === 'qdrant'
    ? createQdrantBackend({
        ...common,
        url: config.ASTRA_QDRANT_URL,
        apiKey: config.ASTRA_QDRANT_API_KEY,
      })
    : createVectoraiBackend({
        ...common,
        url: config.ASTRA_VECTORAI_URL,
        token: config.ASTRA_VECTORAI_TOKEN,
      })
}
