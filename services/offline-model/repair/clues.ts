import { type Observation, observationsIn, readValue, type Value } from './observed-values.ts'

/** A kind of trouble that a failure may point at; repair templates say which they answer. */
export type Clue =
  | 'whitespace'
  | 'case'
  | 'separator'
  | 'all'
  | 'boundary'
  | 'length'
  | 'sign'
  | 'boolean'
  | 'nothing'
  | 'key'
  | 'await'
  | 'return'
  | 'default'
  | 'shared'
  | 'order'
  | 'date'
  | 'encoding'
  | 'type'
  | 'rounding'
  | 'pattern'
  | 'falsy'
  | 'arguments'
  | 'membership'
  | 'division'
  | 'number'
  | 'logic'

export type Clues = ReadonlyMap<Clue, number>

type Hint = { find: RegExp; clues: Clue[] }

/** Words of test names, messages and descriptions. */
const wordHints: Hint[] = [
  {
    find: /\b(?:trim|strip|white ?space|spaces?|blank|padd(?:ed|ing)|surrounding|indent)/i,
    clues: ['whitespace'],
  },
  { find: /\b(?:case|upper|lower|capital)|insensitiv/i, clues: ['case'] },
  { find: /\b(?:dash|hyphen|underscore|separator|slug|kebab|snake)/i, clues: ['separator'] },
  {
    find: /\b(?:all|every|each|repeated|several|many|multiple) (?:occurrence|match|dash|space|word)|\bmore than one\b/i,
    clues: ['all', 'pattern'],
  },
  {
    find: /\b(?:last|first|bound|boundary|inclusive|exclusive|exact|exactly|limit|edge|page|range|at least|at most|maximum|minimum|until|window|off.by.one|remaining)\b/i,
    clues: ['boundary'],
  },
  {
    find: /\b(?:sort|sorted|order|ordered|descending|ascending|rank|newest|oldest|highest|lowest|largest|smallest|top)\b/i,
    clues: ['order'],
  },
  { find: /\b(?:default|fallback|omitted|unset)\b/i, clues: ['default', 'falsy'] },
  {
    find: /\b(?:missing|unknown|absent|without|none|null|undefined|optional|not found|empty|no such)\b/i,
    clues: ['nothing', 'key'],
  },
  { find: /\b(?:zero|falsy|explicit|disabled|empty string)\b/i, clues: ['falsy'] },
  {
    find: /\b(?:round|rounded|cents?|half|nearest|decimals?|precision|truncat\w+)\b/i,
    clues: ['rounding'],
  },
  {
    find: /\b(?:dates?|months?|days?|years?|utc|time ?zones?|midnight|timestamps?|hours?|minutes?|iso|calendar|week\w*)\b/i,
    clues: ['date'],
  },
  {
    find: /\b(?:unicode|utf-?8|accents?|encod\w+|decod\w+|umlauts?|emoji|bytes?|latin|non-ascii)\b/i,
    clues: ['encoding'],
  },
  { find: /\b(?:async|await\w*|promises?|coroutine|pending)\b/i, clues: ['await'] },
  {
    find: /\b(?:mutat\w+|share[ds]?|sharing|copy|copies|independen\w+|leak\w*|separate instances?|second call|twice|untouched|unchanged|original|isolated|fresh|carr(?:y|ies) over)\b/i,
    clues: ['shared'],
  },
  {
    find: /\b(?:divid\w+|division|average|mean|ratio|per ?cent\w*|quotient)\b/i,
    clues: ['division', 'rounding', 'number'],
  },
  {
    find: /\b(?:negative|subtract\w*|minus|plus|add(?:s|ed)?|sum|total|discount|refund)\b/i,
    clues: ['sign', 'number'],
  },
  { find: /\b(?:pattern|regex\w*|match(?:es|ing)?|anchor\w*|whole)\b/i, clues: ['pattern'] },
  {
    find: /\b(?:numeric|numbers?|string|integers?|parse[ds]?|convert\w*|coerc\w+|type)\b/i,
    clues: ['type'],
  },
  {
    find: /\b(?:allow\w*|den(?:y|ies|ied)|permit\w*|accept\w*|reject\w*|valid\w*|invalid|both|either|neither|unless|only)\b/i,
    clues: ['logic', 'boolean', 'membership'],
  },
]

/** Messages of runtimes. */
const errorHints: Hint[] = [
  {
    find: /Cannot (?:read|set) propert|undefined is not|null is not|NoneType|is not iterable|Cannot convert undefined/,
    clues: ['nothing', 'key', 'return'],
  },
  {
    find: /assert (?:not )?(?:True|False)\b|evaluated to a falsy value|Expected: (?:true|false)\b/,
    clues: ['boolean', 'logic', 'membership'],
  },
  { find: /KeyError/, clues: ['key'] },
  { find: /IndexError|out of range|RangeError/, clues: ['boundary', 'nothing'] },
  { find: /ZeroDivisionError|division by zero|\bNaN\b|Infinity/, clues: ['division', 'nothing'] },
  {
    find: /Promise \{|Promise\b.*pending|coroutine|was never awaited|is not a function.*then/,
    clues: ['await'],
  },
  { find: /Unicode(?:De|En)codeError|codec can't/, clues: ['encoding'] },
  {
    find: /can only concatenate|unsupported operand|must be str|not supported between|Cannot mix BigInt|is not JSON serializable/,
    clues: ['type'],
  },
  { find: /ValueError|invalid literal/, clues: ['type', 'whitespace'] },
  { find: /offset-naive|tzinfo|Invalid time value|Invalid Date/, clues: ['date'] },
  { find: /positional argument|unexpected keyword/, clues: ['arguments'] },
  {
    find: /reduce of empty array|empty (?:sequence|iterable)|arg is an empty/,
    clues: ['nothing', 'default'],
  },
]

/** Weights from 0 to 1 of what the failure (and the tests' own literals) point at. */
export function cluesOf(texts: {
  output: string
  testNames: string
  testLiterals: readonly string[]
}): Clues {
  const weights = new Map<Clue, number>()
  const add = (clue: Clue, weight: number) =>
    weights.set(clue, Math.min(1, (weights.get(clue) ?? 0) + weight))

  for (const clue of hinted(texts.testNames, wordHints)) add(clue, 0.5)
  for (const clue of hinted(texts.output, errorHints)) add(clue, 0.7)
  for (const observation of observationsIn(texts.output)) {
    for (const clue of cluesOfPair(observation)) add(clue, 0.7)
  }
  for (const clue of cluesOfLiterals(texts.testLiterals)) add(clue, 0.3)
  return weights
}

/** What the words of a fix description point at. */
export function cluesOfWords(text: string): Set<Clue> {
  return hinted(text, wordHints)
}

function hinted(text: string, hints: readonly Hint[]): Set<Clue> {
  return new Set(hints.filter(({ find }) => find.test(text)).flatMap(({ clues }) => clues))
}

function cluesOfPair(observation: Observation): Clue[] {
  const actual = readValue(observation.actual)
  const expected = readValue(observation.expected)
  if (actual.kind === 'string' && expected.kind === 'string') {
    return cluesOfStrings(actual.value, expected.value)
  }
  if (actual.kind === 'number' && expected.kind === 'number') {
    return cluesOfNumbers(actual.value, expected.value)
  }
  if (actual.kind === 'list' && expected.kind === 'list') {
    return cluesOfLists(actual.items, expected.items)
  }
  if (actual.kind === 'boolean' && expected.kind === 'boolean') {
    return ['boolean', 'logic', 'membership']
  }
  return cluesOfKinds(actual, expected)
}

function cluesOfKinds(actual: Value, expected: Value): Clue[] {
  if (actual.kind === 'nothing') return ['nothing', 'return', 'key']
  if (expected.kind === 'nothing') return ['falsy', 'default', 'nothing']
  const kinds = [actual.kind, expected.kind]
  if (kinds.includes('string') && kinds.includes('number')) return ['type']
  if (kinds.includes('boolean')) return ['boolean', 'type', 'falsy']
  return []
}

const bare = (text: string) => text.replace(/[-_ .]/g, '')
const letters = (text: string) => text.toLowerCase()

function cluesOfStrings(actual: string, expected: string): Clue[] {
  const clues: Clue[] = []
  if (actual.replace(/\s+/g, '') === expected.replace(/\s+/g, '')) clues.push('whitespace')
  if (letters(bare(actual)) === letters(bare(expected))) {
    if (bare(actual) !== bare(expected)) clues.push('case')
    if (letters(actual) !== letters(expected)) clues.push('separator', 'all')
  }
  if (/\d{4}-\d\d/.test(expected) || /\d\d:\d\d/.test(expected)) clues.push('date')
  if (/[^\0-\x7f]/.test(expected)) clues.push('encoding')
  if (/undefined|null|None|NaN|object Promise|coroutine/.test(actual))
    clues.push('nothing', 'await', 'return')
  if (/\d/.test(actual) && /\d/.test(expected)) clues.push('number', 'rounding')
  if (isPart(actual, expected) || isPart(expected, actual)) clues.push('boundary', 'all')
  return clues
}

const isPart = (part: string, whole: string) => whole.startsWith(part) || whole.endsWith(part)

function cluesOfNumbers(actual: number, expected: number): Clue[] {
  const clues: Clue[] = ['number']
  const gap = Math.abs(actual - expected)
  if (gap === 1) clues.push('boundary', 'length')
  if (gap > 0 && gap < 1) clues.push('rounding', 'division')
  if (actual === -expected) clues.push('sign', 'order')
  if (actual === 0 || expected === 0) clues.push('default', 'falsy')
  if (actual > expected !== expected < 0) clues.push('sign')
  return clues
}

function cluesOfLists(actual: readonly string[], expected: readonly string[]): Clue[] {
  const same = [...actual].sort().join() === [...expected].sort().join()
  if (same) return ['order']
  const clues: Clue[] = []
  if (Math.abs(actual.length - expected.length) === 1) clues.push('boundary', 'length')
  if (actual.length > expected.length) clues.push('shared', 'membership')
  const pairs = actual.map((item, index) => [item, expected[index] ?? ''] as const)
  if (actual.length === expected.length) {
    clues.push(...pairs.flatMap(([a, b]) => (a === b ? [] : cluesOfStrings(plain(a), plain(b)))))
  }
  return [...new Set(clues)]
}

const plain = (item: string) => item.replace(/^['"]|['"]$/g, '')

/** Two literals of one test that differ in form only are mostly what goes in and what should come out. */
function cluesOfLiterals(literals: readonly string[]): Set<Clue> {
  const clues = new Set<Clue>()
  const texts = [...new Set(literals)].filter((text) => text.length > 1).slice(0, 60)
  if (texts.some((text) => /,\s+\S/.test(text) || /^\s|\s$/.test(text))) clues.add('whitespace')
  const groups = Map.groupBy(texts, (text) => letters(bare(text)))
  for (const [key, forms] of groups) {
    const [first, ...others] = forms
    if (key === '' || first === undefined) continue
    for (const other of others) for (const clue of cluesOfStrings(other, first)) clues.add(clue)
  }
  return clues
}
