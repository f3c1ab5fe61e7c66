import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import { memoryIdOf } from '../../shared/contracts/ids.ts'
import type { ImportOutcome, Transferred } from '../../shared/contracts/memory-transfer.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { decodeVector } from '../../shared/contracts/vector.ts'
import { MemoryValidationError } from '../../shared/errors.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import { scrubRecord } from '../../shared/scrub/scrub-record.ts'
import type { Scrubber } from '../../shared/scrub/scrubber.ts'
import type { MemoryBackend, RecordVectors } from './backend.ts'
import { childVectors } from './child-vectors.ts'
import { endMerge, storeMerged } from './lifecycle/store-merged.ts'
import { proofProblem } from './proof.ts'

type Deps = { backend: MemoryBackend; home: string; scrub: Scrubber }

/**
 * Takes in records of another store under the ids that they had there. What is there already stays
 * as it is, so that a repeated import changes nothing; near-duplicates merge as when they are stored.
 * Receipts are checked when records are read; here they only decide what is said and what merges.
 */
export async function importMemory(
  { records }: Payload<'memory', 'import'>,
  context: Pick<JobContext, 'children' | 'signal' | 'begunBefore'>,
  deps: Deps,
): Promise<Result<'memory', 'import'>> {
  const again = context.begunBefore > 0
  const bare = records.filter(({ vectors }) => !vectors)
  const embedded = bare.length > 0 && (await context.children()).length > 0
  const made = embedded ? await childVectors(context, 2 * bare.length) : []
  const outcomes: ImportOutcome[] = []
  for (const each of records) {
    context.signal.throwIfAborted()
    const own = each.vectors ? decoded(each.vectors) : made.splice(0, 2)
    outcomes.push(await importRecord(each, own, { ...deps, again }))
  }
  return { outcomes }
}

async function importRecord(
  { vectors: sent, ...given }: Transferred,
  [symptom, fix]: Float32Array[],
  { backend, home, scrub, again }: Deps & { again: boolean },
): Promise<ImportOutcome> {
  if (memoryIdOf(given) !== given.memory_id) {
    return refused('its id does not follow from what it says: it was altered, or is damaged')
  }
  const scrubbed = await scrubRecord(given, scrub)
  if ('secret' in scrubbed) return refused(scrubbed.secret)
  const { record } = scrubbed
  const present = await backend.get(record.memory_id)
  // Vectors of a text with a secret tell of it: they are made anew.
  const areOfText = sent === undefined || record.symptom === given.symptom
  if (!symptom || !fix || !areOfText) return { status: present ? 'present' : 'needs_vectors' }
  const vectors = { symptom: record.symptom.trim() === '' ? fix : symptom, fix }
  if (!present) return write(record, vectors, { backend, home })
  // An earlier try of this job may have died between the record and its merging.
  if (again) await endMerge({ backend, home }, present, vectors)
  return { status: 'present' }
}

async function write(
  record: MemoryRecord,
  vectors: RecordVectors,
  { backend, home }: Pick<Deps, 'backend' | 'home'>,
): Promise<ImportOutcome> {
  try {
    const outcome = await storeMerged({ backend, home }, record, vectors)
    if (outcome.status === 'receipt_used') {
      return refused(`its receipt has stored another record, ${outcome.memory_id}`)
    }
  } catch (error) {
    if (error instanceof MemoryValidationError) return refused(error.message)
    throw error
  }
  return { status: 'imported', proved: proofProblem(record, loadTrustedKeys(home)) === null }
}

function decoded({ symptom, fix }: { symptom: string; fix: string }): Float32Array[] {
  return [decodeVector(symptom), decodeVector(fix)]
}

function refused(message: string): ImportOutcome {
  return { status: 'refused', message }
}
