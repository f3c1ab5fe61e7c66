const WORDS = /[\p{L}\p{N}_$.]+/gu
const PARTS = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+|\p{L}+/gu
const EDGES = /^[._$]+|[._$]+$/g
/** A longer run of characters is no identifier but data. */
const MAX_TERM = 64

/**
 * The terms of a text, lower case, in their order: identifiers whole and in their parts, so that
 * `fetchUserById`, `fetch_user_by_id` and `users.fetch` meet. Single letters and the digits of a
 * name say nothing by themselves.
 */
export function termsOf(text: string): string[] {
  return wordsOf(text).flatMap(termsOfWord)
}

/** The words of a text as they stand there, identifiers whole. */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  for (const [match] of text.matchAll(WORDS)) {
    const word = match.replace(EDGES, '')
    if (word !== '' && word.length <= MAX_TERM) words.push(word)
  }
  return words
}

export function termsOfWord(word: string): string[] {
  const terms: string[] = []
  const parts = word.match(PARTS) ?? []
  if (parts.length !== 1 && word.length > 1) terms.push(word.toLowerCase())
  for (const part of parts) {
    const isWhole = parts.length === 1
    if (part.length > 1 && (isWhole || !/^\p{N}/u.test(part))) terms.push(part.toLowerCase())
  }
  return terms
}

/**
 * The at most `max` terms to look up, rarest first: each document with a term costs time, and a
 * common one tells nothing apart. `frequency` says how many of `total` documents have a term.
 */
export function rarestTerms(
  terms: readonly string[],
  { frequency, total, max }: { frequency: (term: string) => number; total: number; max: number },
): string[] {
  return [...new Set(terms)]
    .map((term) => ({ term, documents: frequency(term) }))
    .filter(({ documents }) => documents > 0 && (documents <= MANY || documents <= total / 2))
    .sort((a, b) => a.documents - b.documents)
    .slice(0, max)
    .map(({ term }) => term)
}

/** So few documents cost nothing, however large their share. */
const MANY = 100
