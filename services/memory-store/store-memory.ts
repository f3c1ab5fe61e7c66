import { memoryIdOf, runIdSchema } from '../../shared/contracts/ids.ts'
import {
  SMOKE_SESSION_PREFIX,
  type StorePayload,
  type StoreResult,
} from '../../shared/contracts/memory.ts'
import { type MemoryRecord, memoryRecordSchema } from '../../shared/contracts/record.ts'
import { crashPoint } from '../../shared/crash-point.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import { scrubStore, secretInReceipt } from '../../shared/scrub/scrub-store.ts'
import type { Scrubber } from '../../shared/scrub/scrubber.ts'
import type { MemoryBackend } from './backend.ts'
import { childVectors } from './child-vectors.ts'
import type { MemoryPolicy } from './lifecycle/policy.ts'
import { storeMerged } from './lifecycle/store-merged.ts'
import { proofProblem } from './proof.ts'

type StoreDeps = {
  backend: MemoryBackend
  home: string
  policy: Pick<MemoryPolicy, 'group'>
  scrub: Scrubber
}

/**
 * Stores a fix that a trusted receipt proves. Refusals are values; nothing was stored then. Throws
 * UnavailableError when the embedder failed, and the job can be tried again.
 */
export async function storeMemory(
  payload: StorePayload,
  context: Pick<JobContext, 'children'>,
  { backend, home, policy, scrub }: StoreDeps,
): Promise<StoreResult> {
  const invalid = invalidText(payload)
  if (invalid) return refusal('memory_validation', invalid)
  const secret = await secretInReceipt(payload.receipt, scrub)
  if (secret) return refusal('secret_in_receipt', secret)
  // Whoever sends has scrubbed already, or should have: what reaches the disk is decided here.
  const record = recordOf(await scrubStore(payload, scrub), policy.group)
  const unconfirmed = outcomeProblem(record, home)
  if (unconfirmed) return refusal('unconfirmed_outcome', unconfirmed)

  const [symptom, fix] = await childVectors(context, 2)
  if (!symptom || !fix) throw new Error('childVectors gave another number than asked for')
  crashPoint('memory.embedded')
  const vectors = { symptom: record.symptom.trim() === '' ? fix : symptom, fix }
  const outcome = await storeMerged({ backend, home }, record, vectors)
  if (outcome.status === 'receipt_used') {
    return refusal(
      'receipt_used',
      `this verified run has already been stored, as memory ${outcome.memory_id}: ` +
        'one verification stores one memory',
    )
  }
  crashPoint('memory.stored')
  return { stored: true, memory_id: record.memory_id }
}

/** Why the claim or the session cannot be kept, by field; null when they can. */
function invalidText({ claim, session_id }: StorePayload): string | null {
  const session = runIdSchema.safeParse(session_id)
  if (!session.success) return `session_id: ${session.error.issues[0]?.message}`
  const broken = Object.entries(claim).find(([, value]) => ![value].flat().every(isWellFormed))
  // Such text has no UTF-8 form, so it has neither an id nor a place in a database.
  return broken
    ? `${broken[0]}: write the text again in whole characters, it holds half of a surrogate pair`
    : null
}

function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}

function outcomeProblem(record: MemoryRecord, home: string): string | null {
  if (record.receipt === null && record.session_id.startsWith(SMOKE_SESSION_PREFIX)) return null
  const problem = proofProblem(record, loadTrustedKeys(home))
  if (problem === null) return null
  return (
    `outcome: nothing proves "${record.outcome}": ${problem.message}. Run the tests until they ` +
    'pass, then store with their confirmed_outcome word for word'
  )
}

function recordOf(payload: StorePayload, group: string | null): MemoryRecord {
  const { claim, evidence, session_id, confirmed_at, receipt, scrubbed = [] } = payload
  return memoryRecordSchema.parse({
    memory_id: memoryIdOf({ session_id, ...claim }),
    ...claim,
    timestamp: confirmed_at,
    session_id,
    ...evidence,
    receipt,
    group,
    merged: [],
    scrubbed,
    shown: 0,
    confirmed: 0,
    unconfirmed: 0,
    superseded_by: null,
    revoked_at: null,
  } satisfies MemoryRecord)
}

function refusal(error: string, message: string): StoreResult {
  return { stored: false, error, message }
}
