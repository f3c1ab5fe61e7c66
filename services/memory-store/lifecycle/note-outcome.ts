import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import type { MemoryBackend } from '../backend.ts'

/** Counts how a run ended for the records that it was shown, once for each of them. */
export async function noteOutcome(
  { run_id, memory_ids, outcome }: Payload<'memory', 'note-outcome'>,
  backend: MemoryBackend,
): Promise<Result<'memory', 'note-outcome'>> {
  await backend.count(memory_ids, outcome, run_id)
  crashPoint('memory.outcome-counted')
  return {}
}
