import { termsOf } from '../retrieval/terms.ts'

/** The texts of a record that words are looked up in. */
type Texts = { error_type: string; symptom: string; fix_description: string }

const K1 = 1.2
const B = 0.75
/** As in the SQLite store: a name in the error type says more than one in the log around it. */
const ERROR_TYPE_WEIGHT = 2
/** A server does not tell how long its documents are on average; a record of a failing test has about so many terms. */
const USUAL_LENGTH = 80

/** What each term of a record adds to its score, before the rarity of the term is counted. */
export function termWeights(record: Texts): Map<string, number> {
  const counts = new Map<string, number>()
  let length = 0
  const weighted = [
    { text: record.error_type, weight: ERROR_TYPE_WEIGHT },
    { text: record.symptom, weight: 1 },
    { text: record.fix_description, weight: 1 },
  ]
  for (const { text, weight } of weighted) {
    for (const term of termsOf(text)) {
      counts.set(term, (counts.get(term) ?? 0) + weight)
      length += 1
    }
  }
  const norm = K1 * (1 - B + (B * length) / USUAL_LENGTH)
  return new Map([...counts].map(([term, n]) => [term, (n * (K1 + 1)) / (n + norm)]))
}

/** The BM25 of each record, among these records alone, for a query. */
export function bm25<T extends Texts>(records: readonly T[], query: string): Map<T, number> {
  const terms = [...new Set(termsOf(query))]
  const weights = records.map((record) => ({ record, weights: termWeights(record) }))
  const rarity = new Map(
    terms.map((term) => {
      const having = weights.filter((each) => each.weights.has(term)).length
      return [term, Math.log((records.length - having + 0.5) / (having + 0.5) + 1)]
    }),
  )
  return new Map(
    weights.map(({ record, weights: own }) => [
      record,
      terms.reduce((sum, term) => sum + (own.get(term) ?? 0) * (rarity.get(term) ?? 0), 0),
    ]),
  )
}
