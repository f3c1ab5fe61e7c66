import { familyOf, type Rule } from '../rule.ts'

const clues = ['rounding', 'number', 'division'] as const
const scriptNames = ['round', 'floor', 'ceil', 'trunc']

const rules: Rule[] = [
  {
    kind: 'rounding-direction',
    language: 'script',
    find: /(?<=\bMath\.)(?:round|floor|ceil|trunc)(?=\()/dg,
    prior: 0.45,
    clues: [...clues, 'boundary'],
    why: 'round in the other direction',
    to: ({ whole }) => scriptNames.filter((name) => name !== whole),
  },
  {
    kind: 'rounding-direction',
    language: 'python',
    find: /(?<=\bmath\.)(?:floor|ceil|trunc)(?=\()/dg,
    prior: 0.45,
    clues: [...clues, 'boundary'],
    why: 'round in the other direction',
    to: ({ whole }) => ['ceil', 'floor'].filter((name) => name !== whole),
  },
  {
    kind: 'rounded-not-cut',
    language: 'python',
    find: /(?<![\w.])(?<name>int|round)\(/dg,
    call: true,
    prior: 0.4,
    clues,
    why: 'round to the nearest value instead of cutting off, halves upwards',
    to: (site) => {
      const [value = '', digits] = site.args
      if (site.group('name') === 'int') return [`round(${value})`, `int(${value} + 0.5)`]
      if (digits === undefined)
        return [`int(${value} + 0.5)`, `round(${value}, 2)`, `int(${value})`]
      return [
        `round(${value}, ${digits} + 1)`,
        `round(${value})`,
        `int(${value} * 10**${digits} + 0.5) / 10**${digits}`,
      ]
    },
  },
  {
    kind: 'ceiling-division',
    language: 'python',
    find: /(?<a>[\w.]+(?:\([^()\n]*\))?) \/\/ (?<b>[\w.]+(?:\([^()\n]*\))?)/dg,
    prior: 0.4,
    clues: [...clues, 'boundary'],
    why: 'round the quotient up, so that the rest counts too',
    to: (site) => [
      `-(-${site.group('a')} // ${site.group('b')})`,
      `round(${site.group('a')} / ${site.group('b')})`,
    ],
  },
  {
    kind: 'round-to-cents',
    language: 'any',
    find: /(?<=\breturn )(?<value>[^\n;]*[\w)\]] [*/] [^\n;]+)(?=;?[ \t]*$)/dgm,
    prior: 0.15,
    clues: ['rounding'],
    why: 'round the result',
    to: ({ whole, source }) =>
      source.language === 'python'
        ? [`round(${whole}, 2)`, `round(${whole})`]
        : [`Math.round((${whole}) * 100) / 100`, `Math.round(${whole})`, `Math.floor(${whole})`],
  },
  {
    kind: 'digits',
    language: 'any',
    find: /(?<=\.toFixed\(|\bround\([^\n]*, )\d(?=\))/dg,
    prior: 0.3,
    clues: ['rounding'],
    why: 'keep another number of digits',
    to: ({ whole }) => ['0', '1', '2', '3'].filter((digits) => digits !== whole),
  },
  {
    kind: 'round-late',
    language: 'any',
    find: /(?:Math\.(?:round|floor|ceil|trunc)|(?<![\w.])(?:round|int))\(/dg,
    call: true,
    prior: 0.15,
    clues,
    why: 'do not round at this step',
    to: ({ args }) => (args[0] === undefined ? null : [args[0], `(${args[0]})`]),
  },
]

export const rounding = familyOf('rounding', rules)
