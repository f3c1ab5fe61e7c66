import { familyOf, type Rule } from '../rule.ts'

const clues = ['order'] as const

const rules: Rule[] = [
  {
    kind: 'numeric-sort',
    language: 'script',
    find: /\.(?<name>sort|toSorted)\(\)/dg,
    prior: 0.7,
    clues: [...clues, 'number', 'type'],
    why: 'sort numbers by value instead of as text',
    to: (site) => [
      `.${site.group('name')}((a, b) => a - b)`,
      `.${site.group('name')}((a, b) => b - a)`,
      `.${site.group('name')}((a, b) => a.localeCompare(b))`,
    ],
  },
  {
    kind: 'reversed-comparator',
    language: 'script',
    find: /\.(?<name>sort|toSorted)\(\(?(?<a>\w+)(?:: ?\w+)?, ?(?<b>\w+)(?:: ?\w+)?\)? => (?<body>[^\n]+?)\)(?=[;\s.,)\]]|$)/dgm,
    prior: 0.35,
    clues,
    why: 'sort in the other direction',
    to: (site) => {
      const [a, b, body] = [site.group('a'), site.group('b'), site.group('body')]
      const swapped = body.replace(new RegExp(`\\b(?:${a}|${b})\\b`, 'g'), (name) =>
        name === a ? b : a,
      )
      return site.whole.replace(`=> ${body}`, () => `=> ${swapped}`)
    },
  },
  {
    kind: 'boolean-comparator',
    language: 'script',
    find: /(?<=\.(?:sort|toSorted)\([^\n]*=> )(?<a>[\w.]+(?:\[[^[\]]+\])?) (?<op>[<>]=?) (?<b>[\w.]+(?:\[[^[\]]+\])?)/dg,
    prior: 0.6,
    clues: [...clues, 'boolean'],
    why: 'let the comparator answer with a number instead of a boolean',
    to: (site) => {
      const [a, b] = [site.group('a'), site.group('b')]
      const pair = site.group('op').startsWith('>') ? [a, b] : [b, a]
      return [`${pair[0]} - ${pair[1]}`, `${pair[0]}.localeCompare(${pair[1]})`]
    },
  },
  {
    kind: 'numeric-comparison',
    language: 'script',
    find: /(?<=\.(?:sort|toSorted)\([^\n]*=> )(?<a>[\w.]+)\.localeCompare\((?<b>[\w.]+)\)/dg,
    prior: 0.35,
    clues: [...clues, 'number', 'type'],
    why: 'compare as numbers instead of as text',
    to: (site) => [
      `Number(${site.group('a')}) - Number(${site.group('b')})`,
      `${site.group('a')}.localeCompare(${site.group('b')}, undefined, { numeric: true })`,
    ],
  },
  {
    kind: 'sort-direction',
    language: 'python',
    find: /(?<![\w.])(?<name>sorted|[\w.]+\.sort)\(/dg,
    call: true,
    prior: 0.3,
    clues,
    why: 'sort in the other direction',
    to: (site) => {
      const others = site.args.filter((arg) => !arg.startsWith('reverse='))
      const args = others.length === site.args.length ? [...others, 'reverse=True'] : others
      return `${site.group('name')}(${args.join(', ')})`
    },
  },
  {
    kind: 'sort-key',
    language: 'python',
    find: /(?<![\w.])(?<name>sorted|[\w.]+\.sort)\(/dg,
    call: true,
    prior: 0.3,
    clues: [...clues, 'number', 'type', 'case'],
    why: 'sort by the value that counts: a number, or a text without case',
    to: (site) =>
      site.args.some((arg) => arg.startsWith('key='))
        ? null
        : ['int', 'str.lower', 'len'].map(
            (key) => `${site.group('name')}(${[...site.args, `key=${key}`].join(', ')})`,
          ),
  },
  {
    kind: 'numeric-key',
    language: 'python',
    find: /(?<=\bkey=lambda (?<name>\w+): )(?<value>\k<name>(?:\.\w+|\[[^[\]\n]+\])*)(?=[,)])/dg,
    prior: 0.3,
    clues: [...clues, 'number', 'type', 'case', 'sign'],
    why: 'sort by the number, the other way round, or without case',
    to: ({ whole }) => [`int(${whole})`, `-${whole}`, `${whole}.lower()`, `float(${whole})`],
  },
  {
    kind: 'keep-order',
    language: 'any',
    find: /\.(?:reverse|toReversed)\(\)|(?<=\breturn )list\(reversed\((?<list>[\w.]+)\)\)|\[::-1\]/dg,
    prior: 0.25,
    clues,
    why: 'keep the order',
    to: (site) => site.group('list'),
  },
]

export const sorting = familyOf('sorting', rules)
