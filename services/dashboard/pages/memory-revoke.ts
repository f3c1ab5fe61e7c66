import type { Context } from 'hono'
import type { Deps } from '../deps.ts'
import { changeState } from '../memory/change-state.ts'

/** POST /memories/:id/revoke: takes a record out of every search. */
export const memoryRevokePage = (deps: Deps) => (c: Context) => changeState(deps, c, 'revoke')
