import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import { isRunnerWord } from './runner-words.ts'
import { termsOfWord, wordsOf } from './terms.ts'

/** Longer beginnings of words keep "awaited" and "await" apart. */
const STEM = 5
/** Characters of a shingle: long enough that two words in a row count, short enough for one name. */
const SHINGLE = 6

/** What is compared of a text: the beginnings of its words with their counts, and its phrases. */
export type TextProfile = {
  stems: ReadonlyMap<string, number>
  /** How many terms there are, repetitions counted. */
  length: number
  /** As 32-bit hashes: a set of numbers is made in a fraction of the time of one of texts. */
  shingles: ReadonlySet<number>
}

/** Words are cut to their beginning, which joins plurals, tenses and compounds in any language. */
export function stemOf(term: string): string {
  return term.slice(0, STEM)
}

export function profileOf(text: string): TextProfile {
  const words = tellingWords(text)
  const stems = stemsOf(words)
  return { stems: counted(stems), length: stems.length, shingles: shinglesOf(words) }
}

export function recordProfile(record: MemoryRecord): TextProfile {
  return profileOf(`${record.error_type}\n${record.symptom}\n${record.fix_description}`)
}

/** The terms of a text that are compared, without what every runner prints, cut to their beginnings. */
export function comparedStems(text: string): string[] {
  return stemsOf(tellingWords(text))
}

function tellingWords(text: string): string[] {
  return wordsOf(text).filter((word) => word.length > 1 && !isRunnerWord(word.toLowerCase()))
}

function stemsOf(words: readonly string[]): string[] {
  return words
    .flatMap(termsOfWord)
    .filter((term) => !isRunnerWord(term))
    .map(stemOf)
}

function counted(stems: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  return counts
}

const RADIX = 31
/** By which the letter that leaves a shingle had been multiplied. */
const LEAVING = RADIX ** SHINGLE

function shinglesOf(words: readonly string[]): Set<number> {
  const line = words.join(' ').toLowerCase()
  const shingles = new Set<number>()
  let hash = 0
  for (let i = 0; i < line.length; i += 1) {
    const left = i < SHINGLE ? 0 : line.charCodeAt(i - SHINGLE)
    hash = (Math.imul(hash, RADIX) + line.charCodeAt(i) - Math.imul(left, LEAVING)) | 0
    if (i >= SHINGLE - 1) shingles.add(hash)
  }
  return shingles
}
