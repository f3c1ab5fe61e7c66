import { familyOf, type Rule } from '../rule.ts'

const clues = ['type', 'number'] as const
const operand = String.raw`[a-zA-Z_][\w.]*(?:\[[^[\]\n]+\]|\([^()\n]*\))?`

const rules: Rule[] = [
  {
    kind: 'number-from-text',
    language: 'script',
    find: new RegExp(
      String.raw`(?<=(?:\breturn |[^=!<>]= |[-+*/<>]=? |\(|, |\?\? ))${operand}(?=;?[ \t]*$|[,)]| [-+*/<>])`,
      'dgm',
    ),
    prior: 0.1,
    clues,
    why: 'convert the text to a number before it is used',
    to: ({ whole }) =>
      /^(?:new|function|await|async|true|false|null|undefined|return|Number|String|this)\b/.test(
        whole,
      )
        ? null
        : `Number(${whole})`,
  },
  {
    kind: 'text-from-number',
    language: 'script',
    find: new RegExp(
      String.raw`(?<=\breturn |\.(?:get|has|set|includes)\()${operand}(?=;?[ \t]*$|[,)])`,
      'dgm',
    ),
    prior: 0.1,
    clues: ['type', 'key', 'membership'],
    why: 'convert the value to text before it is used',
    to: ({ whole }) =>
      /^(?:true|false|null|undefined|this|String)\b/.test(whole) ? null : `String(${whole})`,
  },
  {
    kind: 'number-from-text',
    language: 'python',
    find: new RegExp(
      String.raw`(?<=(?:\breturn |[^=!<>]= |[-+*/<>]=? |\(|, |: ))${operand}(?=[ \t]*$|[,)}]| [-+*/<>]| for )`,
      'dgm',
    ),
    prior: 0.1,
    clues,
    why: 'convert the text to a number before it is used',
    to: ({ whole }) =>
      /^(?:None|True|False|not|self|lambda|int|float|str|await|return)\b/.test(whole)
        ? null
        : [`int(${whole})`, `float(${whole})`, `str(${whole})`],
  },
  {
    kind: 'other-number-type',
    language: 'any',
    find: /(?<![\w.])(?<name>int|float|parseInt|parseFloat|Number)\(/dg,
    call: true,
    prior: 0.3,
    clues: [...clues, 'rounding'],
    why: 'convert with the function that keeps what is needed',
    to: (site) => {
      const [first = ''] = site.args
      const others: Record<string, string[]> = {
        int: [`float(${first})`, `int(float(${first}))`],
        float: [`int(${first})`],
        parseInt: [`parseFloat(${first})`, `Number(${first})`, `parseInt(${first}, 10)`],
        parseFloat: [`Number(${first})`, `parseInt(${first}, 10)`],
        Number: [`parseFloat(${first})`, `parseInt(${first}, 10)`],
      }
      return others[site.group('name')] ?? null
    },
  },
  {
    kind: 'map-parse-int',
    language: 'script',
    find: /(?<=\.map\()parseInt(?=\))/dg,
    prior: 0.8,
    clues,
    why: 'the index must not reach parseInt as its radix',
    to: () => ['Number', '(each) => parseInt(each, 10)'],
  },
  {
    kind: 'boolean-from-text',
    language: 'script',
    find: /(?<![\w.])Boolean\((?<value>[^()\n]+)\)|!!(?<negated>[\w.]+)/dg,
    prior: 0.4,
    clues: ['type', 'boolean', 'falsy'],
    why: 'only the text "true" is true',
    to: (site) => `${site.group('value') || site.group('negated')} === 'true'`,
  },
  {
    kind: 'boolean-from-text',
    language: 'python',
    find: /(?<![\w.])bool\(/dg,
    call: true,
    prior: 0.4,
    clues: ['type', 'boolean', 'falsy'],
    why: 'only the text "true" is true',
    to: ({ args }) => [
      `str(${args[0] ?? ''}).strip().lower() in ("1", "true", "yes", "on")`,
      `${args[0] ?? ''} == "true"`,
    ],
  },
  {
    kind: 'parsed-json',
    language: 'any',
    find: /(?<=\breturn |= )(?<value>[a-z_]\w*)(?=;?[ \t]*$)/dgm,
    prior: 0.04,
    clues: ['type'],
    why: 'parse or print JSON at the border',
    to: ({ whole, source }) =>
      source.language === 'python'
        ? [`json.loads(${whole})`, `json.dumps(${whole})`]
        : [`JSON.parse(${whole})`, `JSON.stringify(${whole})`],
  },
  {
    kind: 'no-conversion',
    language: 'any',
    find: /(?<![\w.])(?:int|str|float|String|Number|parseInt|JSON\.stringify|json\.dumps)\(/dg,
    call: true,
    prior: 0.15,
    clues: ['type', 'rounding'],
    why: 'keep the value as it is',
    to: ({ args }) => args[0] ?? null,
  },
]

export const conversion = familyOf('conversion', rules)
