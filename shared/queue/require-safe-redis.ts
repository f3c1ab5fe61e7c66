import type { Redis } from 'ioredis'
import { UnavailableError } from '../errors.ts'

/** A Redis that may drop keys loses jobs, journals and money; it is refused at start. */
export async function requireSafeRedis(redis: Redis): Promise<void> {
  const [, policy] = (await redis.config('GET', 'maxmemory-policy')) as [string, string]
  if (policy === 'noeviction') return
  throw new UnavailableError(`this Redis may evict keys (maxmemory-policy ${policy})`, {
    hint: 'set maxmemory-policy noeviction; see `astra doctor`',
  })
}
