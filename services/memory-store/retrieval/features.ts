import type { Candidate } from '../backend.ts'
import { errorKey } from '../error-key.ts'
import { profileOf, recordProfile, type TextProfile } from './text-profile.ts'
import { AVERAGE_LENGTH, type WordWeight, wordWeights } from './word-weights.ts'

/** What is asked about: texts are normalised; a run's observed symptom stands beside the query. */
export type Asked = { texts: readonly string[]; errorType: string | null }

/** What a candidate has in common with the failure asked about. */
export type Features = {
  /** Meaning: the cosine with the record's symptom, which names the same things in other words. */
  symptom: number
  /** Meaning: the cosine with its fix, which names the cause. */
  fix: number
  /** The share of the query's words that the record has (BM25, 1: all of them, often). */
  words: number
  /** The share of the record that the query repeats (root): a chance hit repeats little. */
  coverage: number
  /** The share of the query's 6-letter shingles that the record has: whole messages in common. */
  phrases: number
  /** 1: the same error type, -1: another, 0: none was given. */
  errorType: number
  /** How long the query is (log of its terms): a long text has something of every record. */
  length: number
}

export type Comparison = { compared: Compared[]; weight: WordWeight }
export type Compared = {
  candidate: Candidate
  /** By each of the texts asked about: two sights of one failure, of which one may say more. */
  views: Features[]
  profile: TextProfile
}

const K1 = 1.2
const B = 0.75
/** Terms of the shortest queries that the model was fitted on. */
const SHORTEST = 20
/** The weight of some twenty words is added to every record: of a short one, two are not half. */
const SHORT = 50

/** Compares what is asked with each candidate. Rarity of words is measured over all of them. */
export function compare(asked: Asked, candidates: readonly Candidate[]): Comparison {
  const profiles = candidates.map(({ record }) => recordProfile(record))
  const weight = wordWeights(profiles)
  const views = asked.texts.map(profileOf)
  const compared = candidates.map((candidate, i) => {
    const profile = profiles[i] ?? recordProfile(candidate.record)
    const errorType = errorAgreement(asked.errorType, candidate)
    const { symptom, fix } = candidate.cosine
    const features = views.map((view): Features => {
      return { symptom, fix, ...lexicalFeatures(view, profile, weight), errorType }
    })
    return { candidate, profile, views: features }
  })
  return { compared, weight }
}

type Lexical = Pick<Features, 'words' | 'coverage' | 'phrases' | 'length'>

function lexicalFeatures(view: TextProfile, record: TextProfile, weight: WordWeight): Lexical {
  const saturation = K1 * (1 - B + (B * record.length) / AVERAGE_LENGTH)
  let most = 0
  let score = 0
  for (const stem of view.stems.keys()) {
    const telling = weight(stem) * (K1 + 1)
    const count = record.stems.get(stem) ?? 0
    most += telling
    score += (telling * count) / (count + saturation)
  }
  return {
    words: most > 0 ? score / most : 0,
    coverage: Math.sqrt(shareOf(record.stems.keys(), view.stems, weight, SHORT)),
    phrases: shareOf(view.shingles, record.shingles, () => 1),
    length: Math.log(Math.max(view.length, SHORTEST)),
  }
}

/** The weight of the items that `others` has too, of the weight of all and what is added to it. */
function shareOf<T>(
  items: Iterable<T>,
  others: { has(item: T): boolean },
  weight: (item: T) => number,
  added = 0,
): number {
  let all = added
  let shared = 0
  for (const item of items) {
    all += weight(item)
    if (others.has(item)) shared += weight(item)
  }
  return all > 0 ? shared / all : 0
}

function errorAgreement(errorType: string | null, { record }: Candidate): number {
  if (errorType === null) return 0
  return errorKey(errorType) === errorKey(record.error_type) ? 1 : -1
}
