import type { Files } from './repair-driver.ts'

/** Words that the languages, their libraries and their test runners own. */
const owned = new Set(
  `abs actual admin all append articles as assert async await b base bool break case class const constructor count
  counts code continue data deep def default deepequal dict do else elif enumerate equal error except export
  expected false filter finally fixture float floor for from function get has if import in includes index init int
  interface is isinstance items js json join keys lambda len length let list lower map math max min
  module new node none not null number object of open or ok package partition pass private print
  promise push py python raise raises range re readonly record replace replaceall return returns
  round self set setdefault slice sort sorted split splitlines startswith static str strict string
  strip sum super switch test tests then this throw to trim true try ts tuple type typeof
  undefined union values void while with yield and any`
    .split(/\s+/)
    .filter(
      (word) => !['admin', 'articles', 'actual', 'expected', 'code', 'data', 'base'].includes(word),
    ),
)

const consonants = 'bdfgklmnprstvz'
const vowels = 'aeiou'

/** A made-up word for each word, never the same for two. */
function inventor(): (word: string) => string {
  const known = new Map<string, string>()
  return (word) => {
    let made = known.get(word)
    if (made === undefined) {
      let rest = known.size
      made = ''
      for (let syllable = 0; syllable < 3; syllable += 1) {
        made += consonants.charAt(rest % consonants.length)
        rest = Math.floor(rest / consonants.length)
        made += vowels.charAt((rest + syllable) % vowels.length)
      }
      known.set(word, made)
    }
    return made
  }
}

/** The project with another word for every identifier, file name and word of its texts. */
export function renameEverything(files: Files): Files {
  const invent = inventor()
  const rename = (text: string) =>
    text.replace(/\\.|[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g, (word) => {
      const lower = word.toLowerCase()
      if (word.startsWith('\\') || word.length === 1 || owned.has(lower)) return word
      const made = invent(lower)
      if (word === lower) return made
      return word === word.toUpperCase()
        ? made.toUpperCase()
        : made.charAt(0).toUpperCase() + made.slice(1)
    })
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) =>
      path === 'package.json' ? [path, text] : [rename(path), rename(text)],
    ),
  )
}
