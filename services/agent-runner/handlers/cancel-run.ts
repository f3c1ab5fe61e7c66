import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import type { Deps } from '../deps.ts'
import { addWake } from './wake-run.ts'

/** The run ends at its next step. Cancelling an ended run does nothing. */
export async function cancelRun(
  deps: Pick<Deps, 'journal' | 'producer'>,
  { run_id }: Payload<'runs', 'cancel'>,
): Promise<Result<'runs', 'cancel'>> {
  const entry = { at: new Date().toISOString(), message: 'Cancelled on request.' }
  await deps.journal.append(run_id, 'cancel', entry, { type: 'note', text: 'cancel requested' })
  await addWake(deps, run_id)
  return {}
}
