import type { SearchResult, StoreResult } from '../../../shared/contracts/memory.ts'
import type { Receipt } from '../../../shared/contracts/receipt.ts'
import type { DetailsOf, ReceiptSummary } from '../../../shared/contracts/run-event-details.ts'
import type {
  BaselineResult,
  TestRunResult,
  Verification,
} from '../../../shared/contracts/tests.ts'
import { type InboxEntry, type WorkName, workResults } from './entries.ts'
import { callIdOf, excerptOf } from './event-details.ts'
import type { RunEventContent } from './journal-store.ts'

const MAX_FAILING = 20

/** The event that tells what a job brought for `key`; null when the result cannot be read. */
export function resultEvent(
  work: WorkName,
  key: string,
  entry: InboxEntry,
): RunEventContent | null {
  const details = entry.ok
    ? detailsOf(work, key, entry.value)
    : failedDetails(work, key, entry.error)
  if (!details) return null
  const type = work === 'baseline' ? 'baseline' : 'result'
  return { type, text: lineOf(details), details }
}

/** The event that tells of a job that is not there any more, in place of its result. */
export function lostEvent(key: string, error: string): RunEventContent {
  const details = { kind: 'lost', call_id: callIdOf(key), message: excerptOf(error) } as const
  return { type: 'result', text: error, details }
}

type ResultDetails = DetailsOf<'tests'> | DetailsOf<'search'> | DetailsOf<'store'>

function detailsOf(work: WorkName, key: string, value: unknown): ResultDetails | null {
  const call_id = callIdOf(key)
  switch (work) {
    case 'baseline':
    case 'tests': {
      const parsed = workResults[work].safeParse(value)
      const purpose = work === 'baseline' ? 'baseline' : 'run'
      return parsed.success ? testDetails(purpose, call_id, parsed.data) : null
    }
    case 'verify': {
      const parsed = workResults.verify.safeParse(value)
      return parsed.success ? verifyDetails(call_id, parsed.data) : null
    }
    case 'search': {
      const parsed = workResults.search.safeParse(value)
      return parsed.success ? searchDetails(call_id, parsed.data) : null
    }
    case 'store': {
      const parsed = workResults.store.safeParse(value)
      return parsed.success ? storeDetails(call_id ?? '', parsed.data) : null
    }
  }
}

const noTests = { verdict: null, command: '', passed: 0, failed: 0, failing: [], proof: null }

function failedDetails(work: WorkName, key: string, error: string): ResultDetails {
  const call_id = callIdOf(key)
  const message = excerptOf(error)
  switch (work) {
    case 'search':
      return { kind: 'search', call_id, answer: 'unavailable', message, searched: 0, matches: [] }
    case 'store': {
      const refusal = message
      return { kind: 'store', call_id: call_id ?? '', memory_id: null, waiting: false, refusal }
    }
    default: {
      const purpose = work === 'tests' ? 'run' : work
      return { kind: 'tests', purpose, call_id, message, ...noTests }
    }
  }
}

function testDetails(
  purpose: 'baseline' | 'run',
  call_id: string | null,
  result: BaselineResult | TestRunResult,
): DetailsOf<'tests'> {
  const tests = { kind: 'tests', purpose, call_id, ...noTests } as const
  if (result.kind === 'unusable') {
    return { ...tests, verdict: 'unusable', message: excerptOf(result.message) }
  }
  const { passed, failed } = result
  const counted = { ...tests, command: excerptOf(result.command), passed, failed }
  if (result.kind === 'green') {
    const proof = 'verification' in result ? proofOf(result.verification) : null
    return { ...counted, verdict: 'green', message: '', proof }
  }
  const failing = result.symptom.failing.slice(0, MAX_FAILING).map(excerptOf)
  return { ...counted, verdict: 'red', failing, message: excerptOf(result.symptom.normalised) }
}

function verifyDetails(call_id: string | null, value: Verification): DetailsOf<'tests'> {
  const command = excerptOf(value.command)
  const proof = proofOf(value)
  return { kind: 'tests', purpose: 'verify', call_id, ...noTests, command, message: '', proof }
}

function proofOf(verification: Verification): DetailsOf<'tests'>['proof'] {
  const { confirmed, failing_before, passing_after } = verification
  return {
    confirmed,
    reason: confirmed ? null : verification.reason,
    message: confirmed ? '' : excerptOf(verification.message),
    failing_before: failing_before.length,
    passing_after: passing_after.length,
    receipt: confirmed ? summaryOf(verification.receipt) : null,
  }
}

function summaryOf({ body, key_id }: Receipt): ReceiptSummary {
  const { mode, scope, runner, patch, target_count, sandboxed, finished_at, results } = body
  const counts = { canaries: body.canary.length, flaky: body.flaky.length }
  return {
    ...{ key_id, mode, scope, runner, patch, target_count, sandboxed, finished_at, results },
    ...counts,
  }
}

function searchDetails(call_id: string | null, result: SearchResult): DetailsOf<'search'> {
  const same = result.matches.some(({ relevance }) => relevance === 'same')
  return {
    kind: 'search',
    call_id,
    answer: result.matches.length === 0 ? 'none' : same ? 'same' : 'similar',
    message: excerptOf(result.withheld ?? ''),
    searched: result.searched,
    matches: result.matches.slice(0, 10).map((match) => ({
      memory_id: match.memory_id,
      score: match.score,
      relevance: match.relevance,
      probability: match.probability,
      proved: match.proved,
      stale: match.stale !== null,
      fix: excerptOf(match.fix_description),
    })),
  }
}

function storeDetails(call_id: string, result: StoreResult): DetailsOf<'store'> {
  if (!result.stored) {
    const refusal = excerptOf(`${result.error}: ${result.message}`)
    return { kind: 'store', call_id, memory_id: null, waiting: false, refusal }
  }
  const { memory_id, waiting = false } = result
  return { kind: 'store', call_id, memory_id, waiting, refusal: null }
}

function lineOf(details: ResultDetails): string {
  switch (details.kind) {
    case 'search':
      return searchLine(details)
    case 'store':
      if (details.refusal !== null) return `not stored: ${details.refusal}`
      return `${details.waiting ? 'accepted, waits for the memory' : 'stored'}: ${details.memory_id}`
    case 'tests':
      return testsLine(details)
  }
}

function searchLine({ answer, matches, message }: DetailsOf<'search'>): string {
  if (answer === 'unavailable') return `memory unavailable: ${message}`
  const [best] = matches
  if (!best) return 'memory: no relevant confirmed fixes'
  const more = matches.length > 1 ? ` and ${matches.length - 1} more` : ''
  return `memory: ${answer} failure, ${best.memory_id} (${best.score.toFixed(4)})${more}`
}

function testsLine({ purpose, verdict, passed, failed, message, proof }: DetailsOf<'tests'>) {
  const proved = proof && (proof.confirmed ? 'proved' : `not proved: ${proof.message}`)
  if (purpose === 'verify') return proved ?? `could not be verified: ${message}`
  if (verdict === null) return `tests could not be run: ${message}`
  if (verdict === 'unusable') return `tests unusable: ${message}`
  return `tests ${verdict}: ${passed} passed, ${failed} failed${proved ? `; ${proved}` : ''}`
}
