import type { Redis } from 'ioredis'
import { runViewKey, runViewSchema } from '../../../shared/contracts/run-view.ts'

/** The views of these runs, in their order; an expired one is left out. */
export async function readRunViews(redis: Redis, ids: string[]) {
  const texts = ids.length === 0 ? [] : await redis.mget(ids.map(runViewKey))
  const parsed = texts
    .filter((text) => text !== null)
    .map((text) => runViewSchema.safeParse(JSON.parse(text)))
  const views = parsed.flatMap((each) => (each.success ? [each.data] : []))
  return { views, unreadable: parsed.length - views.length }
}
