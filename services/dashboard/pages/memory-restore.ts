import type { Context } from 'hono'
import type { Deps } from '../deps.ts'
import { changeState } from '../memory/change-state.ts'

/** POST /memories/:id/restore: takes the revocation of a record back. */
export const memoryRestorePage = (deps: Deps) => (c: Context) => changeState(deps, c, 'restore')
