import type { Payload, Result } from '../../../shared/contracts/catalog.ts'
import type { SupersedeResult } from '../../../shared/contracts/memory-lifecycle.ts'
import type { MemoryBackend } from '../backend.ts'

/** Lets a record stand for another one in searches, or takes that back. Refusals change nothing. */
export async function supersedeMemory(
  { memory_id, by }: Payload<'memory', 'supersede'>,
  backend: MemoryBackend,
): Promise<Result<'memory', 'supersede'>> {
  const record = await backend.get(memory_id)
  if (!record) return refusal('no_such_record', `there is no memory ${memory_id}`)
  const problem = by === null ? null : await successorProblem(backend, memory_id, by)
  if (problem) return problem
  return { done: true, changed: (await backend.supersede([memory_id], by)) > 0 }
}

/** Only what is answered itself may stand for others, so that no fix is lost between two. */
async function successorProblem(
  backend: MemoryBackend,
  memoryId: string,
  by: string,
): Promise<SupersedeResult | null> {
  if (by === memoryId) return refusal('circle', 'a memory cannot stand for itself')
  const successor = await backend.get(by)
  if (!successor) return refusal('no_such_successor', `there is no memory ${by}`)
  if (successor.superseded_by === memoryId) {
    return refusal('circle', `memory ${memoryId} stands for ${by} already: take that back first`)
  }
  if (successor.superseded_by !== null) {
    const message = `memory ${successor.superseded_by} stands for ${by}: name that one`
    return refusal('successor_not_live', message)
  }
  if (successor.revoked_at !== null) {
    return refusal('successor_not_live', `memory ${by} is revoked: restore it first`)
  }
  return null
}

function refusal(
  reason: Extract<SupersedeResult, { done: false }>['reason'],
  message: string,
): SupersedeResult {
  return { done: false, reason, message }
}
