import type { Context } from 'hono'
import type { Deps } from '../deps.ts'
import { readChange, withdrawChange } from '../memory/change-job.ts'
import { changePage, withdrawnPage } from '../memory/change-page.ts'

/** POST /memories/:id/changes/:change/withdraw: takes back what nobody has begun. */
export const memoryChangeWithdrawPage = (deps: Deps) => async (c: Context) => {
  const [memoryId, change] = [c.req.param('id') ?? '', c.req.param('change') ?? '']
  if (await withdrawChange(deps, memoryId, change)) {
    deps.log.info({ memory_id: memoryId, change }, 'a change of a memory was taken back')
    return withdrawnPage(c, memoryId)
  }
  return changePage(c, memoryId, change, await readChange(deps, memoryId, change))
}
