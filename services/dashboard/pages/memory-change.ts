import type { Context } from 'hono'
import type { Deps } from '../deps.ts'
import { readChange } from '../memory/change-job.ts'
import { changePage } from '../memory/change-page.ts'

/** GET /memories/:id/changes/:change: a change that the memory-store had no time for yet. */
export const memoryChangePage = (deps: Deps) => async (c: Context) => {
  const [memoryId, change] = [c.req.param('id') ?? '', c.req.param('change') ?? '']
  return changePage(c, memoryId, change, await readChange(deps, memoryId, change))
}
