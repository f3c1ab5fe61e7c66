import { familyOf, type Rule } from '../rule.ts'

const clues = ['default', 'falsy', 'nothing', 'number'] as const

/** Other values that programs commonly start from. */
function alternatives(value: string, python: boolean): string[] {
  const yes = python ? 'True' : 'true'
  const no = python ? 'False' : 'false'
  if (value === yes) return [no]
  if (value === no) return [yes]
  if (/^\d+$/.test(value)) return nearNumbers(Number(value))
  return value === 'None' || value === 'null' ? ['0', "''", no] : []
}

const nearNumbers = (value: number) =>
  [...new Set([0, 1, value + 1, value - 1])]
    .filter((each) => each >= 0 && each !== value)
    .map(String)

const replaced = ({ whole, source }: { whole: string; source: { language: string } }) =>
  alternatives(whole, source.language === 'python')

const literal = String.raw`(?:\d+|true|false|True|False|None|null|'[^'\n]*'|"[^"\n]*")`

const rules: Rule[] = [
  {
    kind: 'parameter-default',
    language: 'any',
    find: new RegExp(
      String.raw`(?<=[(,]\s*\w+(?:\s*:\s*[\w.<>[\] |]+?)?\s*=\s*)${literal}(?=\s*[,)])`,
      'dg',
    ),
    prior: 0.2,
    clues,
    why: 'use the other default for the parameter',
    to: replaced,
  },
  {
    kind: 'fallback-value',
    language: 'any',
    find: new RegExp(
      String.raw`(?<=(?:\?\?|\|\||\bor) |\.get\([^,()\n]+, |\bgetattr\([^,()\n]+,[^,()\n]+, )${literal}(?=[\s,);\]]|$)`,
      'dgm',
    ),
    prior: 0.25,
    clues,
    why: 'use another value as the fallback',
    to: replaced,
  },
  {
    kind: 'start-value',
    language: 'any',
    find: new RegExp(
      String.raw`(?<=^[ \t]*(?:let |var |const )?[a-z_]\w*(?:: ?\w+)? = )${literal}(?=;?[ \t]*$)`,
      'dgm',
    ),
    prior: 0.14,
    clues: [...clues, 'boundary'],
    why: 'start from another value',
    to: replaced,
  },
  {
    kind: 'start-of-reduction',
    language: 'script',
    find: /(?<=, )[01](?=\)(?:;|\n|\)|,|\.|$))/dg,
    prior: 0.2,
    clues: ['default', 'number', 'boundary'],
    why: 'start the reduction from another value',
    to: ({ whole }) => (whole === '0' ? '1' : '0'),
  },
  {
    kind: 'spread-order',
    language: 'script',
    find: /\{ \.\.\.(?<first>[\w.]+), \.\.\.(?<second>[\w.]+) \}/dg,
    prior: 0.4,
    clues: ['default', 'falsy', 'arguments'],
    why: 'let the given values win over the defaults',
    to: (site) => `{ ...${site.group('second')}, ...${site.group('first')} }`,
  },
  {
    kind: 'spread-order',
    language: 'python',
    find: /\{\*\*(?<first>[\w.]+), \*\*(?<second>[\w.]+)\}/dg,
    prior: 0.4,
    clues: ['default', 'falsy', 'arguments'],
    why: 'let the given values win over the defaults',
    to: (site) => `{**${site.group('second')}, **${site.group('first')}}`,
  },
  {
    kind: 'spread-last',
    language: 'script',
    find: /\{\s*\.\.\.(?<spread>[\w.]+),(?<rest>[^{}]+?),?\s*\}/dg,
    prior: 0.25,
    clues: ['default', 'falsy'],
    why: 'let the given values win over the defaults',
    to: (site) => `{ ${site.group('rest').trim()}, ...${site.group('spread')} }`,
  },
]

export const defaults = familyOf('defaults', rules)
