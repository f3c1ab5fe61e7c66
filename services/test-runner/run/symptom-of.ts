import type { Runner } from '../../../shared/contracts/receipt.ts'
import type { Symptom } from '../../../shared/contracts/tests.ts'
import { errorTypeOf, headAndTail, normaliseSymptom } from '../../../shared/symptom.ts'
import { standsForTests, type TestEntry } from './report.ts'

/** Failures beyond these say the same again. */
const MAX_DESCRIBED = 5
/** Characters. */
const MAX_RAW = 16_000
export const MAX_IDS = 200

const LANGUAGE: Partial<Record<Runner, Symptom['language']>> = {
  pytest: 'python',
  unittest: 'python',
  go: 'go',
  cargo: 'rust',
}

/** What failed, in words that another project's failure of the same cause would share. */
export function symptomOf(runner: Runner, tests: readonly TestEntry[], output: string): Symptom {
  const failed = tests.filter((test) => test.status === 'failed')
  const described = failed.slice(0, MAX_DESCRIBED).filter((test) => test.message.trim() !== '')
  const share = Math.floor(MAX_RAW / Math.max(described.length, 1)) - 2
  const texts = described.map((test) => headAndTail(describe(test), share))
  const raw = texts.length > 0 ? texts.join('\n\n') : output
  return {
    raw,
    normalised: normaliseSymptom(raw),
    // Names stand before messages in the text, and a test may be named after another error.
    error_type: errorTypeOf(described.map((test) => test.message).join('\n') || output),
    language: LANGUAGE[runner] ?? scriptLanguage(failed),
    failing: failed.slice(0, MAX_IDS).map((test) => test.id),
  }
}

/** The name of a file or of a hook is no part of what went wrong. */
function describe(test: TestEntry): string {
  const message = test.message.trim()
  return standsForTests(test.id) ? message : `${test.name}\n${message}`
}

function scriptLanguage(failed: readonly TestEntry[]): Symptom['language'] {
  return failed.some((test) => /\.[mc]?tsx?$/.test(test.file)) ? 'typescript' : 'javascript'
}
