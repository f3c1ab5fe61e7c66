import { familyOf, type Rule } from '../rule.ts'

const clues = ['falsy', 'default'] as const

const rules: Rule[] = [
  {
    kind: 'nullish-default',
    language: 'script',
    find: /(?<= )\|\|(?= )/dg,
    prior: 0.45,
    clues,
    why: 'use the fallback only when the value is missing, not for zero, false or an empty text',
    to: () => '??',
  },
  {
    kind: 'nullish-default',
    language: 'script',
    find: /\|\|=/dg,
    prior: 0.45,
    clues,
    why: 'use the fallback only when the value is missing, not for zero, false or an empty text',
    to: () => '??=',
  },
  {
    kind: 'nullish-default',
    language: 'python',
    find: /(?<=(?:= |\breturn |\())(?<value>[a-z_][\w.]*(?:\([^()\n]*\)|\[[^[\]\n]+\])?) or (?<other>[\w.]+(?:\([^()\n]*\))?|"[^"\n]*"|'[^'\n]*'|\[\]|\{\})(?=[ \t]*$|[,)])/dgm,
    prior: 0.4,
    clues,
    why: 'use the fallback only when the value is missing, not for zero, False or an empty text',
    to: (site) => {
      const value = site.group('value')
      return `${value} if ${value} is not None else ${site.group('other')}`
    },
  },
  {
    kind: 'missing-not-falsy',
    language: 'python',
    find: /\b(?<word>if|elif|while|and|or) (?<not>not )?(?<value>[a-z_][\w.]*)(?=:| and | or | else)/dg,
    prior: 0.3,
    clues,
    why: 'ask whether the value is missing instead of whether it is falsy',
    to: (site) =>
      `${site.group('word')} ${site.group('value')} ${site.group('not') === '' ? 'is not' : 'is'} None`,
  },
  {
    kind: 'missing-not-falsy',
    language: 'script',
    find: /(?<=(?:\bif \(|&& |\|\| |\breturn |= ))(?<not>!)?(?<value>[a-zA-Z_][\w.]*(?:\[[^[\]\n]+\])?)(?=\)| &&| \|\|| \?(?!\?))/dg,
    prior: 0.3,
    clues,
    why: 'ask whether the value is missing instead of whether it is falsy',
    to: (site) => {
      const sign = site.group('not') === '!' ? '===' : '!=='
      return [
        `${site.group('value')} ${sign} undefined`,
        `${site.group('value')} ${sign.slice(0, 2)} null`,
      ]
    },
  },
]

export const truthiness = familyOf('truthiness', rules)
