const common = new Set(
  (
    'the a an and or of to in is it its be as at by for from with this that not no are was were has ' +
    'have had will would should can could may must than then when where which who what how all any ' +
    'each other into only also but if so test tests testing assert error failed failing expected ' +
    'actual received got file files line lines py js ts src app lib def function const let var return ' +
    'import export class new async await true false none null undefined self'
  ).split(' '),
)

/** The words of a text: identifiers split at case and underscores, lower case, common ones left out. */
export function wordsOf(text: string): Set<string> {
  const parts = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
  return new Set(parts.map(stem).filter((word) => word.length > 2 && !common.has(word)))
}

/** Cuts plural and verb endings, so that "trims", "trimmed" and "trimming" meet "trim". */
function stem(word: string): string {
  const cut = word.replace(/(?:ies)$/, 'y').replace(/(?:ing|ed|es|s)$/, '')
  const bare = cut.length < 3 ? word : cut
  return /([^aeiou])\1$/.test(bare) && bare.length > 4 ? bare.slice(0, -1) : bare
}

/** How much of `words` is found in `text`, 0 to 1. */
export function overlap(words: ReadonlySet<string>, text: ReadonlySet<string>): number {
  if (words.size === 0 || text.size === 0) return 0
  const shared = [...words].filter((word) => text.has(word)).length
  return shared / Math.min(words.size, text.size)
}
