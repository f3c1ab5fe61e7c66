import type { StorePayload } from '../contracts/memory.ts'
import type { Receipt } from '../contracts/receipt.ts'
import { type Removed, type Scrubber, sumRemoved } from './scrubber.ts'

/** What the contract allows: a marker can be longer than the secret that it stands for. */
const MAX = {
  fix_description: 4000,
  error_type: 200,
  file_path: 500,
  outcome: 200,
  symptom: 16_000,
  diff: 64_000,
  model: 100,
}

/**
 * The payload of a store without the secrets in its texts; `scrubbed` adds what was removed to what
 * had been before. The names of proved tests stay as they were signed: see `secretInReceipt`.
 */
export async function scrubStore(payload: StorePayload, scrub: Scrubber): Promise<StorePayload> {
  const removed: Removed[] = [payload.scrubbed ?? []]
  const clean = async (text: string, max = Number.POSITIVE_INFINITY) => {
    const scrubbed = await scrub(text)
    removed.push(scrubbed.removed)
    return scrubbed.removed.length === 0 ? text : cutAt(scrubbed.text, max)
  }
  const { claim, evidence, receipt } = payload
  const cleanAll = (texts: string[], max?: number) =>
    Promise.all(texts.map((text) => clean(text, max)))
  return {
    ...payload,
    claim: {
      fix_description: await clean(claim.fix_description, MAX.fix_description),
      error_type: await clean(claim.error_type, MAX.error_type),
      file_paths: await cleanAll(claim.file_paths, MAX.file_path),
      outcome: await clean(claim.outcome, MAX.outcome),
    },
    evidence: {
      ...evidence,
      symptom_raw: await clean(evidence.symptom_raw, MAX.symptom),
      symptom: await clean(evidence.symptom, MAX.symptom),
      diff: await clean(evidence.diff, MAX.diff),
      failing_tests: receipt ? evidence.failing_tests : await cleanAll(evidence.failing_tests),
      model: await clean(evidence.model, MAX.model),
    },
    scrubbed: sumRemoved(...removed),
  }
}

/**
 * Why a receipt may not be stored, or null: a test is named after a secret, or the command holds one.
 * A signed text cannot be scrubbed, as nothing would prove it any more.
 */
export async function secretInReceipt(
  receipt: Receipt | null,
  scrub: Scrubber,
): Promise<string | null> {
  if (!receipt) return null
  const { command, targets, flaky, canary, repository_id } = receipt.body
  const texts = [command, ...targets, ...flaky, ...canary, repository_id ?? '', receipt.key_id]
  const { removed } = await scrub(texts.join('\n\n'))
  if (removed.length === 0) return null
  const rules = removed.map(({ rule }) => rule).join(', ')
  return (
    `the test command or the name of a test holds what looks like a secret (${rules}). The receipt is ` +
    'signed with it, so this fix is not stored'
  )
}

function cutAt(text: string, max: number): string {
  if (text.length <= max) return text
  // Not in the middle of a character that takes two places.
  return text
    .slice(0, max)
    .replace(/[\ud800-\udbff]$/, '')
    .trim()
}
