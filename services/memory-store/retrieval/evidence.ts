import { errorKey } from '../error-key.ts'
import type { Asked } from './features.ts'
import type { Judged } from './judge.ts'
import { isRunnerWord } from './runner-words.ts'
import { termsOf } from './terms.ts'
import { stemOf } from './text-profile.ts'
import type { WordWeight } from './word-weights.ts'

export type Evidence = { for: string[]; against: string[] }

/** How many words are named on each side. */
const NAMED = 6
/** Words below this weight stand in every second failure and tell nothing. */
const TELLING = 1.5
/** A lead below this is no lead: the best rival is about as likely. */
const CLOSE = 0.5

/** What a reader should know before a record is used: a near miss is told apart by reading alone. */
export function evidenceOf(
  asked: Asked,
  judged: Judged,
  { weight, rivals, proved }: { weight: WordWeight; rivals: readonly Judged[]; proved: boolean },
): Evidence {
  const { record } = judged.candidate
  const { shared, missing } = wordsOf(asked, judged, weight)
  const type = errorTypes(asked.errorType, record.error_type)
  const languages = otherLanguage(asked, judged)
  const rival = rivals.find((each) => each.candidate !== judged.candidate && judged.margin < CLOSE)
  return {
    for: [
      ...(type === 'same' ? [`same error type: ${JSON.stringify(record.error_type)}`] : []),
      ...(shared.length > 0 ? [`shared words: ${shared.join(', ')}`] : []),
    ],
    against: [
      ...(type === 'other'
        ? [
            `other error type: ${JSON.stringify(record.error_type)}, not ${JSON.stringify(asked.errorType)}`,
          ]
        : []),
      ...(languages ? [languages] : []),
      ...(missing.length > 0 ? [`not in the record: ${missing.join(', ')}`] : []),
      ...(rival ? [`about as near: memory ${rival.candidate.record.memory_id}`] : []),
      ...(proved ? [] : ['nothing proves this record']),
    ],
  }
}

function errorTypes(asked: string | null, stored: string): 'same' | 'other' | 'unknown' {
  if (asked === null) return 'unknown'
  return errorKey(asked) === errorKey(stored) ? 'same' : 'other'
}

/** The query's most telling words, whole, by whether the record has them. */
function wordsOf(asked: Asked, { profile }: Judged, weight: WordWeight) {
  const words = new Map<string, string>()
  for (const term of asked.texts.flatMap(termsOf)) {
    const stem = stemOf(term)
    // Of a compound and its parts, which share a beginning, the first is the whole.
    const tells = !isRunnerWord(term) && weight(stem) >= TELLING
    if (tells && !words.has(stem)) words.set(stem, term)
  }
  const telling = [...words].sort(([a], [b]) => weight(b) - weight(a))
  const named = (has: boolean) =>
    telling
      .filter(([stem]) => profile.whole.stems.has(stem) === has)
      .slice(0, NAMED)
      .map(([, term]) => term)
  return { shared: named(true), missing: named(false) }
}

const LANGUAGES: readonly (readonly [name: string, files: RegExp])[] = [
  ['Python', /\.pyi?\b/],
  ['JavaScript or TypeScript', /\.[cm]?[jt]sx?\b/],
  ['Go', /\.go\b/],
  ['Java or Kotlin', /\.(?:java|kts?)\b/],
  ['Rust', /\.rs\b/],
  ['C#', /\.cs\b/],
  ['Ruby', /\.rb\b/],
  ['PHP', /\.php\b/],
]

function otherLanguage(asked: Asked, { candidate }: Judged): string | null {
  const here = languageOf(asked.texts.join('\n'))
  const there = languageOf(candidate.record.file_paths.join('\n'))
  return here && there && here !== there ? `other language: ${there}, not ${here}` : null
}

/** By the files that a text names; null when it names none, or those of several languages. */
function languageOf(text: string): string | null {
  const named = LANGUAGES.filter(([, files]) => files.test(text))
  return named.length === 1 ? (named[0]?.[0] ?? null) : null
}
