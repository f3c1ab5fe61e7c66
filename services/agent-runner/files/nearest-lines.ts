const MAX_LINE = 200
/** How many lines are shown, and how many are compared: a large file must not cost seconds. */
const MAX_SHOWN = 8
const MAX_COMPARED = 20_000

/** The place of the file that is most like the lines that were looked for, or nothing. */
export function nearestLines(body: string, wanted: string): string {
  const looked = wanted.split(/\r?\n/).slice(0, MAX_SHOWN).map(wordsOf)
  const lines = body.split(/\r?\n/).slice(0, MAX_COMPARED)
  const words = lines.map(wordsOf)
  let best = { score: 0, at: 0 }
  for (const at of lines.keys()) {
    let score = 0
    for (const [offset, line] of looked.entries()) score += likeness(line, words[at + offset])
    if (score > best.score) best = { score, at }
  }
  if (best.score === 0) return ''
  const numbers = looked.map((_, offset) => best.at + offset + 1)
  return ` The nearest lines are:${showLines(body, numbers)}`
}

/** Lines by their numbers, each below the other. */
export function showLines(body: string, numbers: number[]): string {
  const lines = body.split(/\r?\n/)
  return numbers
    .filter((number) => number <= lines.length)
    .slice(0, MAX_SHOWN)
    .map((number) => `\n${number}: ${lines[number - 1]?.slice(0, MAX_LINE)}`)
    .join('')
}

/** Words, and signs one by one: lines such as `}` are like each other too. */
const wordsOf = (line: string) => new Set(line.slice(0, 1000).match(/\w+|[^\w\s]/g) ?? [])

/** The share of words that both lines have, 1 for lines that differ in spaces only. */
function likeness(a: Set<string>, b: Set<string> | undefined): number {
  if (b === undefined || a.size === 0 || b.size === 0) return 0
  let common = 0
  for (const word of a) if (b.has(word)) common += 1
  return common / (a.size + b.size - common)
}
