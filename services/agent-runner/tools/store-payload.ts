import type { StorePayload } from '../../../shared/contracts/memory.ts'
import type { FixClaim } from '../../../shared/contracts/record.ts'
import { scrubStore, secretInReceipt } from '../../../shared/scrub/scrub-store.ts'
import type { Scrubber } from '../../../shared/scrub/scrubber.ts'
import { describePatch } from '../files/patch-view.ts'
import { openTree } from '../files/tree.ts'
import { currentVerification } from '../journal/conversation.ts'
import { observedSymptom } from '../journal/run-view.ts'
import { redBaseline } from '../model/request.ts'
import type { Run } from '../run/run.ts'
import { ownDescription, recalledIn, withoutRecalled } from './recalled-text.ts'
import { scrubbedSymptom } from './scrubbed-symptom.ts'

/** The longest texts that go into a record, in characters. */
const MAX_SYMPTOM = 16_000
const MAX_DIFF = 60_000
const MAX_DESCRIPTION = 4_000
const MAX_ERROR_TYPE = 200

export type PreparedStore =
  | { ok: true; payload: StorePayload }
  | { ok: false; code: string; message: string }

/**
 * What the store gets: the model's claim and what this system saw itself, without secrets and without
 * texts of recalled records. All of it is scrubbed before it is cut: half a secret has no form.
 */
export async function prepareStore(
  scrub: Scrubber,
  run: Run,
  given: FixClaim,
): Promise<PreparedStore> {
  const { journal, files, runId } = run
  const verification = currentVerification(journal)
  const receipt = verification?.confirmed ? verification.receipt : null
  const secret = await secretInReceipt(receipt, scrub)
  if (secret) return { ok: false, code: 'secret_in_receipt', message: secret }
  const recalled = recalledIn(journal)
  const description = ownDescription(given.fix_description, recalled)
  if (!description.ok) return { ok: false, code: 'recalled_text', message: description.message }

  const observed = observedSymptom(journal)
  const symptom = await scrubbedSymptom(observed, scrub)
  const { diff } = await describePatch(files, await (await openTree(files, journal)).patch())
  const scrubbedDiff = await scrub(diff ?? '')
  const own = (text: string) => withoutRecalled(text, recalled)
  const payload: StorePayload = {
    claim: {
      ...given,
      fix_description: description.text.slice(0, MAX_DESCRIPTION),
      error_type: own(given.error_type).slice(0, MAX_ERROR_TYPE),
    },
    evidence: {
      symptom_raw: own(symptom.raw).slice(0, MAX_SYMPTOM),
      symptom: own(symptom.normalised).slice(0, MAX_SYMPTOM),
      diff: own(scrubbedDiff.text).slice(0, MAX_DIFF),
      language: observed?.language ?? null,
      // Of what was proved: a run may have tests of several runners.
      framework: receipt?.body.runner ?? redBaseline(journal).runner,
      repository_id: journal.start?.request.repository_id ?? null,
      failing_tests: receipt?.body.targets ?? [],
      model: journal.start?.model ?? '',
    },
    session_id: runId,
    confirmed_at: new Date().toISOString(),
    receipt,
    scrubbed: [...symptom.removed, ...scrubbedDiff.removed],
  }
  return { ok: true, payload: await scrubStore(payload, scrub) }
}
