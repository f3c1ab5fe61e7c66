import type { Context } from 'hono'
import type { Deps } from '../deps.ts'
import { askStore } from '../memory/ask-store.ts'
import { type Change, changeState } from '../memory/change-state.ts'

/** POST /memories/:id/restore: takes the revocation of a record back. */
export const memoryRestorePage = (deps: Deps) => (c: Context) =>
  changeState(c, (memoryId) => restore(deps, memoryId))

async function restore(deps: Deps, memory_id: string): Promise<Change> {
  const answer = await askStore(deps, 'restore', { which: { memory_id } })
  if (answer.kind === 'away') return answer
  const { found, changed, superseded } = answer.value
  if (found === 0) return { kind: 'no_such_memory' }
  if (changed === 0) return { kind: 'done', notice: 'was-live' }
  deps.log.info({ memory_id }, 'a memory was restored')
  return { kind: 'done', notice: superseded.length > 0 ? 'superseded' : 'restored' }
}
