import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import { headAndTail, plainLines } from '../../../shared/symptom.ts'
import { isRunnerWord } from './runner-words.ts'
import { termsOfWord, wordsOf } from './terms.ts'

/** Long enough to keep "red" and "read" apart, short enough to join "await" and "awaiting". */
const STEM = 4
/** Characters of a text that are compared: what failed is said at both ends of a longer log. */
const MAX_COMPARED = 4_000

/** The beginnings of a text's words, with how often each comes. */
export type TextProfile = {
  stems: ReadonlyMap<string, number>
  /** How many terms there are, repetitions counted. */
  length: number
}

/** What is compared of a query. */
export type QueryProfile = TextProfile & {
  /** The stems of each line of two or more: a single word is no message. */
  lines: readonly ReadonlySet<string>[]
}

/** What is compared of a record. */
export type RecordProfile = {
  symptom: TextProfile
  /** Symptom and fix. */
  whole: TextProfile
  /** In which lines of the symptom a stem is. */
  linesWith: ReadonlyMap<string, readonly number[]>
}

/** Words are cut to their beginning, which joins plurals, tenses and compounds in any language. */
export function stemOf(term: string): string {
  return term.slice(0, STEM)
}

export function queryProfile(text: string): QueryProfile {
  const lines = stemLines(text)
  const sets = lines.map((stems) => new Set(stems)).filter(({ size }) => size > 1)
  return { ...profileOf(lines.flat()), lines: sets }
}

/** Made before the comparison, with pauses: it is the better part of the work. */
const profiles = new WeakMap<Compared, RecordProfile>()

type Compared = Pick<MemoryRecord, 'error_type' | 'symptom' | 'symptom_raw' | 'fix_description'>

/**
 * Of a symptom its raw text is compared: a library's frames and a setting in a log line say which of
 * two causes it was, though they only dilute its vector. The tutorial's records have none.
 */
export function recordProfile(record: Compared): RecordProfile {
  const known = profiles.get(record)
  if (known) return known
  const lines = stemLines(record.symptom_raw || record.symptom)
  const symptom = [...stemLines(record.error_type).flat(), ...lines.flat()]
  const linesWith = new Map<string, number[]>()
  for (const [at, stems] of lines.entries()) {
    for (const stem of new Set(stems)) {
      const seen = linesWith.get(stem)
      if (seen) seen.push(at)
      else linesWith.set(stem, [at])
    }
  }
  const whole = profileOf([...symptom, ...stemLines(record.fix_description).flat()])
  const profile = { symptom: profileOf(symptom), whole, linesWith }
  profiles.set(record, profile)
  return profile
}

export function profileOf(stems: readonly string[]): TextProfile {
  const counts = new Map<string, number>()
  for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  return { stems: counts, length: stems.length }
}

/** The terms of each line that are compared, without what every runner prints, cut short. */
function stemLines(text: string): string[][] {
  const short = headAndTail(plainLines(text).join('\n'), MAX_COMPARED)
  return short.split('\n').map((line) =>
    wordsOf(line)
      .filter((word) => !isRunnerWord(word.toLowerCase()))
      .flatMap(termsOfWord)
      .filter((term) => !isRunnerWord(term))
      .map(stemOf),
  )
}
