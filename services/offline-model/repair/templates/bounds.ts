import { familyOf, type Rule } from '../rule.ts'

const looser: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const clues = ['boundary', 'length'] as const

const rules: Rule[] = [
  {
    kind: 'inclusive-comparison',
    language: 'any',
    find: /(?<= )(?<op><=|>=|<|>)(?= )/dg,
    prior: 0.35,
    clues,
    why: 'compare inclusively or exclusively at the boundary',
    to: (site) => looser[site.group('op')] ?? null,
  },
  {
    kind: 'length-minus-one',
    language: 'any',
    find: /(?:\.length|\blen\([^()\n]*\)|\.size) (?<sign>[-+]) 1\b/dg,
    prior: 0.35,
    clues,
    why: 'count to the last element, without the step of one',
    to: ({ whole }) => whole.replace(/ [-+] 1$/, ''),
  },
  {
    kind: 'length-as-index',
    language: 'any',
    find: /(?<=\[)[\w.]*(?:\.length|len\([^()\n]*\))(?=\])/dg,
    prior: 0.6,
    clues: [...clues, 'nothing'],
    why: 'the last index is one less than the length',
    to: ({ whole }) => `${whole} - 1`,
  },
  {
    kind: 'drop-step-of-one',
    language: 'any',
    find: /(?<=[\w)\]]) [-+] 1\b(?!\d|\.\d)/dg,
    prior: 0.25,
    clues,
    why: 'drop the step of one',
    to: () => '',
  },
  {
    kind: 'other-step-of-one',
    language: 'any',
    find: /(?<=[\w)\]] )[-+](?= 1\b(?!\.\d))/dg,
    prior: 0.12,
    clues: [...clues, 'sign'],
    why: 'step by one in the other direction',
    to: ({ whole }) => (whole === '-' ? '+' : '-'),
  },
  {
    kind: 'range-end',
    language: 'python',
    find: /\brange\(/dg,
    call: true,
    prior: 0.35,
    clues,
    why: 'let the range include its last value or begin one later',
    to: ({ args }) => {
      const [first = '', second, ...step] = args
      if (second === undefined)
        return [`range(${first} + 1)`, `range(1, ${first} + 1)`, `range(${first} - 1)`]
      const range = (from: string, to: string) => `range(${[from, to, ...step].join(', ')})`
      const start = first === '0' ? '1' : first === '1' ? '0' : `${first} + 1`
      return [range(first, `${second} + 1`), range(start, second), range(first, `${second} - 1`)]
    },
  },
  {
    kind: 'loop-start',
    language: 'script',
    find: /(?<=\blet \w+(?:: number)? = )(?<value>[01])(?=;)/dg,
    prior: 0.3,
    clues,
    why: 'begin the loop at the first element',
    to: ({ whole }) => (whole === '0' ? '1' : '0'),
  },
  {
    kind: 'index',
    language: 'any',
    find: /(?<=[\w)\]]\[|\.at\()(?<value>0|1|-1)(?=[\])])/dg,
    prior: 0.2,
    clues,
    why: 'take the neighbouring element',
    to: ({ whole, source }) =>
      ['0', '1', '-1'].filter(
        (each) => each !== whole && (each !== '-1' || source.language === 'python'),
      ),
  },
  {
    kind: 'slice-bound',
    language: 'python',
    find: /(?<=[\w)\]]\[)(?<from>[\w.]*(?:\([^()\n]*\))?(?: [-+*] [\w.]+)?) ?: ?(?<to>-?[\w.]*(?:\([^()\n]*\))?(?: [-+*] [\w.]+)?)(?=\])/dg,
    prior: 0.3,
    clues,
    why: 'move a bound of the slice by one',
    to: (site) => {
      const [from, to] = [site.group('from'), site.group('to')]
      const ends = to === '' ? [] : to === '-1' ? [''] : [`${to} + 1`, `${to} - 1`]
      const starts = from === '' ? ['1'] : from === '1' ? [''] : [`${from} - 1`, `${from} + 1`]
      return [...ends.map((end) => `${from}:${end}`), ...starts.map((start) => `${start}:${to}`)]
    },
  },
  {
    kind: 'slice-sign',
    language: 'any',
    find: /(?<=\[|\.slice\()(?<sign>-?)(?<count>[a-zA-Z]\w*)(?=:\]|\))/dg,
    prior: 0.25,
    clues: [...clues, 'order'],
    why: 'take from the other end',
    to: (site) => (site.group('sign') === '-' ? site.group('count') : `-${site.group('count')}`),
  },
  {
    kind: 'slice-bound',
    language: 'script',
    find: /\.(?<name>slice|substring|splice)\(/dg,
    call: true,
    prior: 0.3,
    clues,
    why: 'move a bound of the slice by one',
    to: (site) => {
      const [from = '', to] = site.args
      const form = (...args: string[]) => `.${site.group('name')}(${args.join(', ')})`
      if (from === '') return null
      const start = from === '1' ? '0' : from === '0' ? '1' : `${from} + 1`
      if (to === undefined) return [form(start), form(`${from} - 1`), form('0', from)]
      return [form(from, `${to} + 1`), form(from, `${to} - 1`), form(start, to), form(from)]
    },
  },
  {
    kind: 'page-from-one',
    language: 'any',
    find: /\b(?<index>page\w*|\w*[nN]umber|index|\w+_page|\w+Page) \* /dg,
    prior: 0.5,
    clues,
    why: 'pages are counted from one, offsets from zero',
    to: (site) => `(${site.group('index')} - 1) * `,
  },
  {
    kind: 'page-from-one',
    language: 'any',
    find: /\((?<index>\w+) - 1\)(?= \*)/dg,
    prior: 0.3,
    clues,
    why: 'the index is counted from zero already',
    to: (site) => site.group('index'),
  },
]

export const bounds = familyOf('bounds', rules)
