import type { ChainableCommander, Redis } from 'ioredis'
import { KEY_PREFIX } from '../queue/connection.ts'
import {
  type ContentName,
  type ContentPlace,
  inBatches,
  KEPT_SECONDS,
  packed,
  unpacked,
} from './content.ts'

const keyOf = (sha256: string) => `${KEY_PREFIX}:blob:${sha256}`

/** One round trip: small enough for a slow network, and not to hold up the queues' own commands. */
const BATCH = { items: 256, bytes: 1_000_000 }
const NAMES = { items: 2_000, bytes: Number.POSITIVE_INFINITY }

/** Contents in the Redis of the fleet, compressed; each goes by itself when nobody used it for long. */
export function redisContents(redis: Redis): ContentPlace {
  return {
    async missing(hashes) {
      const missing = new Set<string>()
      for (const batch of inBatches(hashes, () => 0, NAMES)) {
        const pipeline = redis.pipeline()
        for (const hash of batch) pipeline.expire(keyOf(hash), KEPT_SECONDS)
        const found = await resultsOf(pipeline)
        for (const [index, hash] of batch.entries()) if (found[index] !== 1) missing.add(hash)
      }
      return missing
    },
    async put(contents) {
      for (const batch of inBatches(contents, ({ bytes }) => bytes.length, BATCH)) {
        const values = await Promise.all(batch.map(({ bytes }) => packed(bytes)))
        const pipeline = redis.pipeline()
        for (const [index, { sha256 }] of batch.entries()) {
          pipeline.set(keyOf(sha256), values[index] ?? '', 'EX', KEPT_SECONDS)
        }
        await resultsOf(pipeline)
      }
    },
    async get(names) {
      const contents: (Uint8Array | null)[] = []
      for (const batch of inBatches(names, ({ size }) => size, BATCH)) {
        const pipeline = redis.pipeline()
        for (const { sha256 } of batch) pipeline.getexBuffer(keyOf(sha256), 'EX', KEPT_SECONDS)
        const values = (await resultsOf(pipeline)) as (Buffer | null)[]
        const read = batch.map((name, index) => sound(redis, name, values[index] ?? null))
        contents.push(...(await Promise.all(read)))
      }
      return contents
    },
  }
}

/** What is damaged is removed: it would keep its right content away for ever. */
async function sound(redis: Redis, name: ContentName, value: Buffer | null) {
  const content = value && (await unpacked(value, name))
  if (value && !content) await redis.del(keyOf(name.sha256))
  return content
}

/** The results of a pipeline's commands, in order. Throws the error of the first that failed. */
async function resultsOf(pipeline: ChainableCommander): Promise<unknown[]> {
  const results = (await pipeline.exec()) ?? []
  return results.map(([error, result]) => {
    if (error) throw error
    return result
  })
}
