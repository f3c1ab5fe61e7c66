import background from './background.json' with { type: 'json' }
import { profileOf, type TextProfile } from './text-profile.ts'

/**
 * A hundred failures of all kinds with their fixes, as the stems of their words: what is ordinary. A
 * memory of three records does not know by itself that "passed" is no rare word, nor how much any
 * two failures have in common.
 */
export const ordinaryFailures: readonly TextProfile[] = background.failures.map((stems) =>
  profileOf(stems.split(' ')),
)

/** Terms of their symptoms in the mean. */
export const ordinaryLength: number = background.symptomLength
