import type { Context } from 'hono'
import type { Redis } from 'ioredis'
import { readHealth } from './health.ts'

/** GET /healthz: 200 when runs can get to their end, else 503 and what is missing. */
export const healthzPage =
  ({ redis }: { redis: Redis }) =>
  async (c: Context): Promise<Response> => {
    const health = await readHealth(redis)
    return c.json(health, health.ok ? 200 : 503)
  }
