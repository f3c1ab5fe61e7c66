import { familyOf, type Rule, type Site } from '../rule.ts'

const operand = String.raw`[a-zA-Z_][\w.]*(?:\([^()\n]*\)|\[[^[\]\n]+\])?`

const rules: Rule[] = [
  {
    kind: 'compare-without-case',
    language: 'script',
    find: new RegExp(`(?<a>${operand}) (?<op>===|!==|==|!=) (?<b>${operand})`, 'dg'),
    prior: 0.3,
    clues: ['case'],
    why: 'compare texts without regard to case',
    to: (site) =>
      isConstant(site.group('a')) || isConstant(site.group('b'))
        ? null
        : `${site.group('a')}.toLowerCase() ${site.group('op')} ${site.group('b')}.toLowerCase()`,
  },
  {
    kind: 'compare-without-case',
    language: 'python',
    find: new RegExp(`(?<a>${operand}) (?<op>==|!=|in|not in) (?<b>${operand})`, 'dg'),
    prior: 0.3,
    clues: ['case'],
    why: 'compare texts without regard to case',
    to: (site) => {
      const [a, op, b] = [site.group('a'), site.group('op'), site.group('b')]
      if (/^(?:for|if|not|return|and|or)$/.test(a) || isConstant(b) || isLoopHead(site)) return null
      return [
        `${a}.lower() ${op} ${b}.lower()`,
        ...(op.includes('in') ? [`${a}.lower() ${op} ${b}`] : []),
      ]
    },
  },
  {
    kind: 'search-without-case',
    language: 'script',
    find: /\.(?<name>includes|startsWith|endsWith|indexOf)\((?<value>[a-zA-Z_][\w.]*)\)/dg,
    receiver: true,
    prior: 0.3,
    clues: ['case'],
    why: 'search without regard to case',
    to: (site) => [
      `${site.receiver}.toLowerCase().${site.group('name')}(${site.group('value')}.toLowerCase())`,
      `${site.receiver}.${site.group('name')}(${site.group('value')}.toLowerCase())`,
    ],
  },
  {
    kind: 'equality-not-membership',
    language: 'script',
    find: /\.(?:includes|startsWith|endsWith)\((?<value>[^()\n]+)\)/dg,
    receiver: true,
    prior: 0.25,
    clues: ['membership', 'boolean', 'logic', 'pattern'],
    why: 'compare the whole value instead of a part of it',
    to: (site) => [
      `(${site.receiver} === ${site.group('value')})`,
      `${site.receiver}.split(',').includes(${site.group('value')})`,
    ],
  },
  {
    kind: 'equality-not-membership',
    language: 'python',
    find: new RegExp(
      String.raw`(?<=\b(?:if|return|and|or|not|elif) )(?<a>${operand}|"[^"\n]*"|'[^'\n]*') (?<op>not in|in) (?<b>${operand})(?=:|$| and| or)`,
      'dgm',
    ),
    prior: 0.25,
    clues: ['membership', 'boolean', 'logic'],
    why: 'compare the whole value instead of a part of it',
    to: (site) => [
      `${site.group('a')} ${site.group('op') === 'in' ? '==' : '!='} ${site.group('b')}`,
      `${site.group('a')} ${site.group('op')} ${site.group('b')}.split(",")`,
    ],
  },
  {
    kind: 'membership-not-equality',
    language: 'any',
    find: new RegExp(`(?<a>${operand}) (?<op>===|!==|==|!=) (?<b>[a-zA-Z_][w.]*)`, 'dg'),
    prior: 0.12,
    clues: ['membership', 'boolean', 'logic'],
    why: 'ask for membership instead of equality',
    to: (site) => {
      const [a, b, negated] = [site.group('a'), site.group('b'), site.group('op').startsWith('!')]
      return site.source.language === 'python'
        ? `${a} ${negated ? 'not in' : 'in'} ${b}`
        : `${negated ? '!' : ''}${b}.includes(${a})`
    },
  },
  {
    kind: 'in-list',
    language: 'script',
    find: /(?<key>[a-zA-Z_][\w.]*|'[^'\n]*') in (?<list>[a-zA-Z_][\w.]*)(?=\)|;|$| &&| \|\|| \?)/dgm,
    prior: 0.4,
    clues: ['membership', 'boolean'],
    why: 'ask whether the list holds the value, not whether it has such an index',
    to: (site) => [
      `${site.group('list')}.includes(${site.group('key')})`,
      `Object.hasOwn(${site.group('list')}, ${site.group('key')})`,
    ],
  },
  {
    kind: 'found-at-zero',
    language: 'any',
    find: /(?<=\.(?:indexOf|findIndex|search|find|index)\([^()\n]*\) )(?<op>> 0|>= 1|< 0|== 0|!= 0)/dg,
    prior: 0.6,
    clues: ['membership', 'boundary', 'boolean'],
    why: 'a place of zero is found as well',
    to: () => ['>= 0', '< 0'],
  },
  {
    kind: 'value-not-identity',
    language: 'python',
    find: / (?<op>is not|is) (?=["'\d[({]|[a-z_]\w*(?:\.\w+)*(?::|$| and| or))/dgm,
    prior: 0.5,
    clues: ['boolean', 'membership', 'type'],
    why: 'compare by value instead of by identity',
    to: (site) => (site.group('op') === 'is' ? ' == ' : ' != '),
  },
  {
    kind: 'value-not-identity',
    language: 'script',
    find: /(?<left>[\w.]+) === NaN\b/dg,
    prior: 0.9,
    clues: ['nothing', 'boolean', 'number'],
    why: 'NaN is not equal to itself',
    to: (site) => `Number.isNaN(${site.group('left')})`,
  },
  {
    kind: 'loose-types',
    language: 'script',
    find: new RegExp(`(?<a>${operand}) (?<op>===|!==) (?<b>${operand})`, 'dg'),
    prior: 0.2,
    clues: ['type'],
    why: 'compare values of one type',
    to: (site) => [
      `String(${site.group('a')}) ${site.group('op')} String(${site.group('b')})`,
      `Number(${site.group('a')}) ${site.group('op')} Number(${site.group('b')})`,
    ],
  },
]

const isConstant = (text: string) =>
  /^(?:undefined|null|true|false|NaN|None|True|False)$/.test(text)

/** `for x in xs` is no comparison. */
const isLoopHead = ({ source, start }: Site) =>
  /\bfor (?:\w+, ?)*$/.test(source.code.slice(Math.max(0, start - 60), start))

export const comparison = familyOf('comparison', rules)
