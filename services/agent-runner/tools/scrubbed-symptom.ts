import type { Symptom } from '../../../shared/contracts/tests.ts'
import type { Removed, Scrubber } from '../../../shared/scrub/scrubber.ts'
import { normaliseSymptom } from '../../../shared/symptom.ts'

export type ScrubbedSymptom = { raw: string; normalised: string; removed: Removed }

/**
 * The observed symptom without secrets. It is normalised anew when it held one: in the normalised text
 * a secret may have lost the part that it is known by.
 */
export async function scrubbedSymptom(
  symptom: Pick<Symptom, 'raw' | 'normalised'> | null,
  scrub: Scrubber,
): Promise<ScrubbedSymptom> {
  if (!symptom) return { raw: '', normalised: '', removed: [] }
  const { text: raw, removed } = await scrub(symptom.raw)
  const normalised = removed.length === 0 ? symptom.normalised : normaliseSymptom(raw)
  return { raw, normalised: (await scrub(normalised)).text, removed }
}
