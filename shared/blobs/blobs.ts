import type { Config } from '../config.ts'
import { sha256 } from '../contracts/ids.ts'
import { AstraError } from '../errors.ts'
import { connectOrFail } from '../queue/connection.ts'
import type { ContentPlace } from './content.ts'
import { folderContents } from './folder-contents.ts'
import { redisContents } from './redis-contents.ts'

/** A slow network may take longer than a person's question. */
const WAIT_MS = 15_000
const MEGABYTE = 1_000_000

export type PlaceName = 'redis' | 'shared'

/** More than Redis is to hold, and there is no shared folder. Numbers of bytes. */
export class TooLarge extends AstraError {
  constructor(what: string, bytes: number, limit: number) {
    super(
      'too_large_to_travel',
      `${what} has ${inMegabytes(bytes)}, and ${LIMIT} is ${limit / MEGABYTE}`,
      {
        hint: `set ASTRA_SHARED_DIR to a folder that all machines of the fleet see, or raise ${LIMIT}`,
      },
    )
  }
}

const LIMIT = 'ASTRA_SNAPSHOT_REDIS_MB'

export const inMegabytes = (bytes: number) => `${(bytes / MEGABYTE).toFixed(1)} MB`

/** What a fleet's machines hand each other, beside jobs. */
export type Blobs = {
  redis: ReturnType<typeof connectOrFail>
  /** Where something of that size goes; null: it is too large to go anywhere. */
  placeFor(bytes: number): PlaceName | null
  /** Throws AstraError where the shared folder is not known here. */
  in(place: PlaceName): ContentPlace
  /** What Redis may hold of one thing, in bytes. */
  limit: number
  close(): void
}

export type BlobConfig = Pick<Config, 'redis' | 'ASTRA_SHARED_DIR' | 'ASTRA_SNAPSHOT_REDIS_MB'>

/**
 * Opens what the fleet has for this. Null with a Redis of one's own on this machine: its processes
 * share a disk, and nothing has to travel.
 */
export function openBlobs(config: BlobConfig): Blobs | null {
  if (!('url' in config.redis)) return null
  const redis = connectOrFail(config.redis, { waitMs: WAIT_MS })
  // Without a listener ioredis prints every failed attempt; the failed command says it.
  redis.on('error', () => {})
  const { ASTRA_SHARED_DIR: folder } = config
  const limit = config.ASTRA_SNAPSHOT_REDIS_MB * MEGABYTE
  const places = { redis: redisContents(redis), shared: folder ? folderContents(folder) : null }
  return {
    redis,
    limit,
    placeFor(bytes) {
      if (bytes <= limit) return 'redis'
      return places.shared ? 'shared' : null
    },
    in(place) {
      const found = places[place]
      if (found) return found
      throw new AstraError('no_shared_dir', 'this machine has no ASTRA_SHARED_DIR', {
        hint: 'set it to the folder that the other machines of the fleet put large snapshots into',
      })
    },
    close: () => redis.disconnect(),
  }
}

/** Keeps one thing under its hash and returns that. Throws TooLarge. */
export async function putContent(blobs: Blobs, what: string, bytes: Uint8Array): Promise<string> {
  const place = blobs.placeFor(bytes.length)
  if (place === null) throw new TooLarge(what, bytes.length, blobs.limit)
  const content = { sha256: sha256(bytes), bytes }
  const missing = await blobs.in(place).missing([content.sha256])
  if (missing.size > 0) await blobs.in(place).put([content])
  return content.sha256
}

/** One thing that `putContent` kept, at most `maxBytes` of it. Throws AstraError when it is gone. */
export async function getContent(
  blobs: Blobs,
  what: string,
  name: { sha256: string; maxBytes: number },
): Promise<Uint8Array> {
  const asked = [{ sha256: name.sha256, size: name.maxBytes }]
  const [inRedis] = await blobs.in('redis').get(asked)
  if (inRedis) return inRedis
  const shared = blobs.placeFor(Number.POSITIVE_INFINITY)
  const [inFolder] = shared ? await blobs.in(shared).get(asked) : []
  if (inFolder) return inFolder
  throw lost(what)
}

export const lost = (what: string) =>
  new AstraError('content_lost', `${what} is not where the fleet keeps it any more`, {
    hint: 'it stays for 30 days after its last use; begin the run anew',
  })
