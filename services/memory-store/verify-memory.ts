import type { KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Payload } from '../../shared/contracts/catalog.ts'
import type { ProofProblem, VerifyResult } from '../../shared/contracts/memory.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import type { MemoryBackend, ScanEntry } from './backend.ts'
import { type FieldFilter, hasFields } from './list-filter.ts'
import { proofProblem } from './proof.ts'

/** Records that are held at a time: each may have 100 kB. */
const PAGE = 100
/** Of one job: a second at most, far below its lock. The next job goes on where it left off. */
const MAX_PAGES = 5

const unreadable: ProofProblem = {
  reason: 'unreadable_record',
  message: 'the stored record cannot be read',
}

/** Checks records from `after` on, counts them by what is wrong, and names the first unproved ones. */
export async function verifyMemory(
  { after, named, ...fields }: Payload<'memory', 'verify'>,
  { signal }: Pick<JobContext, 'signal'>,
  { backend, home }: { backend: MemoryBackend; home: string },
): Promise<VerifyResult> {
  const trusted = loadTrustedKeys(home)
  const result: VerifyResult = { proved: 0, unproved: {}, named: [], next: after }
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { entries, next } = await backend.scan(result.next, PAGE)
    const asked = entries.filter((entry) => isAskedFor(entry, fields))
    for (const entry of asked) addTo(result, entry, { trusted, named })
    result.next = next
    if (next === null) break
    // The store's calls block: other jobs get their turn in between.
    await setImmediate()
    signal.throwIfAborted()
  }
  return result
}

function addTo(
  result: VerifyResult,
  { memory_id, session_id, record }: ScanEntry,
  { trusted, named }: { trusted: Map<string, KeyObject>; named: number },
): void {
  const problem = record ? proofProblem(record, trusted) : unreadable
  if (problem === null) {
    result.proved += 1
    return
  }
  result.unproved[problem.reason] = (result.unproved[problem.reason] ?? 0) + 1
  if (result.named.length < named) result.named.push({ memory_id, session_id, ...problem })
}

/** Of one that cannot be read nothing but its session is known. */
function isAskedFor({ record, session_id }: ScanEntry, fields: FieldFilter): boolean {
  if (record) return hasFields(record, fields)
  const isOfSession = fields.session_id === undefined || fields.session_id === session_id
  return isOfSession && fields.repository_id === undefined && fields.error_type === undefined
}
