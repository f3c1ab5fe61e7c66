import type { Candidate } from '../backend.ts'
import { errorKey } from '../error-key.ts'
import { ordinaryFailures, ordinaryLength } from './background.ts'
import {
  type QueryProfile,
  queryProfile,
  type RecordProfile,
  recordProfile,
  type TextProfile,
} from './text-profile.ts'
import { type WordWeight, wordWeights } from './word-weights.ts'

/**
 * What is asked about: the words of whoever asks and, of a run, the symptom that was observed. `texts`
 * are normalised, as what is embedded; `raw` are the same as they were given, for words.
 */
export type Asked = { texts: readonly string[]; raw: readonly string[]; errorType: string | null }

/** What a candidate has in common with the failure asked about. */
export type Features = {
  /** Meaning: the cosine with the record's symptom, which names the same things in other words. */
  symptom: number
  /** Meaning: the cosine with its fix, which names the cause. */
  fix: number
  /** The share of the query's words that the record's symptom has (BM25; 1: all, and often). */
  words: number
  /** The share of the record that the query repeats (root): a chance hit repeats little. */
  coverage: number
  /** 1: the same error type, -1: another, 0: none was given. */
  errorType: number
  /** How far its coverage is above what other failures reach, in their standard deviations. */
  standout: number
  /**
   * The share of the query that single lines of the record say again (log). It speaks against a
   * record that is no better covered: what is quoted is the error's message, and each of its causes
   * prints that.
   */
  quoted: number
}

export type Compared = {
  candidate: Candidate
  /** By each of the texts asked about: two sights of one failure, of which one may say more. */
  views: Features[]
  profile: RecordProfile
}
export type Comparison = { compared: Compared[]; weight: WordWeight }

const K1 = 1.2
const B = 0.75
/** What is quoted of a query by chance: less than this is nothing. */
const CHANCE = 0.1
/** The weight of some twenty words is added to every record: of a short one, two are not half. */
const SHORT = 50

/** Compares what is asked with each candidate. Rarity of words is measured over all of them. */
export function compare(asked: Asked, candidates: readonly Candidate[]): Comparison {
  const profiles = candidates.map(({ record }) => recordProfile(record))
  const whole = profiles.map((profile) => profile.whole)
  const weight = wordWeights(whole)
  const views = asked.raw.map((text) => {
    const query = queryProfile(text)
    const covered = (text: TextProfile) => ({ text, coverage: coverageOf(text, query, weight) })
    return { query, candidates: whole.map(covered), ordinary: ordinaryFailures.map(covered) }
  })
  const compared = candidates.map((candidate, i): Compared => {
    const profile = profiles[i] ?? recordProfile(candidate.record)
    const errorType = errorAgreement(asked.errorType, candidate)
    const { symptom, fix } = candidate.cosine
    return {
      candidate,
      profile,
      views: views.map(({ query, candidates, ordinary }) => {
        const coverage = candidates[i]?.coverage ?? 0
        const others = [...ordinary, ...candidates].filter((other) => !isSame(other, candidates[i]))
        return {
          symptom,
          fix,
          words: saturatedShare(query, profile.symptom, weight),
          coverage,
          errorType,
          standout: standoutOf(coverage, others),
          quoted: Math.log(quotedShare(query, profile, weight) + CHANCE),
        }
      }),
    }
  })
  return { compared, weight }
}

/** BM25 of a text, as a share of what it would be if it had every word over and over. */
function saturatedShare(query: TextProfile, text: TextProfile, weight: WordWeight): number {
  const saturation = K1 * (1 - B + (B * text.length) / ordinaryLength)
  let most = 0
  let score = 0
  for (const stem of query.stems.keys()) {
    const telling = weight(stem) * (K1 + 1)
    const count = text.stems.get(stem) ?? 0
    most += telling
    score += (telling * count) / (count + saturation)
  }
  return most > 0 ? score / most : 0
}

function coverageOf(text: TextProfile, query: TextProfile, weight: WordWeight): number {
  const { shared, missing } = weightOf(text, query, weight)
  return Math.sqrt(shared / (shared + missing + SHORT))
}

/** The weight of a text's words by whether another one has them. */
function weightOf({ stems }: TextProfile, other: TextProfile, weight: WordWeight) {
  let shared = 0
  let missing = 0
  for (const stem of stems.keys()) {
    if (other.stems.has(stem)) shared += weight(stem)
    else missing += weight(stem)
  }
  return { shared, missing }
}

/** By weight of words: what the record's line that is nearest to it has of each of the query's. */
function quotedShare(
  { lines }: QueryProfile,
  { linesWith }: RecordProfile,
  weight: WordWeight,
): number {
  let all = 0
  let quoted = 0
  for (const stems of lines) {
    const shared = new Map<number, number>()
    for (const stem of stems) {
      const telling = weight(stem)
      all += telling
      for (const at of linesWith.get(stem) ?? []) shared.set(at, (shared.get(at) ?? 0) + telling)
    }
    quoted += Math.max(0, ...shared.values())
  }
  return all > 0 ? quoted / all : 0
}

type Covered = { text: TextProfile; coverage: number }

/** A failure does not stand out from itself, be it among the ordinary ones. */
function isSame(one: Covered, other: Covered | undefined): boolean {
  return one.coverage === other?.coverage && one.text.length === other.text.length
}

/** A query that has no word of any failure would have no spread at all. */
const LEAST_DEVIATION = 0.05

function standoutOf(coverage: number, others: readonly Covered[]): number {
  const mean = meanOf(others.map((other) => other.coverage))
  const variance = meanOf(others.map((other) => (other.coverage - mean) ** 2))
  return (coverage - mean) / Math.max(Math.sqrt(variance), LEAST_DEVIATION)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function errorAgreement(errorType: string | null, { record }: Candidate): number {
  if (errorType === null) return 0
  return errorKey(errorType) === errorKey(record.error_type) ? 1 : -1
}
