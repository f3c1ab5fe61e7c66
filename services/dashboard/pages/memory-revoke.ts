import type { Context } from 'hono'
import type { Deps } from '../deps.ts'
import { askStore } from '../memory/ask-store.ts'
import { type Change, changeState } from '../memory/change-state.ts'

/** POST /memories/:id/revoke: takes a record out of every search. */
export const memoryRevokePage = (deps: Deps) => (c: Context) =>
  changeState(c, (memoryId) => revoke(deps, memoryId))

async function revoke(deps: Deps, memory_id: string): Promise<Change> {
  const answer = await askStore(deps, 'revoke', { which: { memory_id } })
  if (answer.kind === 'away') return answer
  const { found, changed } = answer.value
  if (found === 0) return { kind: 'no_such_memory' }
  if (changed === 0) return { kind: 'done', notice: 'was-revoked' }
  deps.log.info({ memory_id }, 'a memory was revoked')
  return { kind: 'done', notice: 'revoked' }
}
