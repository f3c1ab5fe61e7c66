import { isSimple } from '../expressions.ts'
import { familyOf, type Rule } from '../rule.ts'

const clues = ['nothing', 'key'] as const
const keywords =
  /^(?:self|this|super|import|Math|Object|JSON|Number|String|Array|Date|process|console|os|re|json|datetime|math)\b/

const pythonRules: Rule[] = [
  {
    kind: 'get-instead-of-index',
    language: 'python',
    find: /(?<map>[a-zA-Z_][\w.]*)\[(?<key>[\w.]+|"[^"\n]*"|'[^'\n]*')\](?! *(?:[-+*]?=(?!=)|\.append|\.add))/dg,
    prior: 0.12,
    clues,
    why: 'look the key up with a default instead of failing when it is missing',
    to: (site) => {
      if (/^\d+$/.test(site.group('key'))) return null
      const call = `${site.group('map')}.get(${site.group('key')}`
      return [`${call})`, `${call}, 0)`, `${call}, "")`, `${call}, [])`, `${call}, {})`]
    },
  },
  {
    kind: 'get-default',
    language: 'python',
    find: /\.get\((?<key>[\w.]+|"[^"\n]*"|'[^'\n]*')\)/dg,
    prior: 0.15,
    clues: [...clues, 'default'],
    why: 'give the lookup a default for a missing key',
    to: (site) =>
      ['""', '0', '[]', '{}', 'False'].map((value) => `.get(${site.group('key')}, ${value})`),
  },
  {
    kind: 'count-from-zero',
    language: 'python',
    find: /(?<map>[a-zA-Z_][\w.]*)\[(?<key>(?:[^[\]\n]|\[[^[\]\n]*\])+)\] (?<op>[-+])= /dg,
    prior: 0.35,
    clues,
    why: 'start from zero when the key is missing',
    to: (site) => {
      const [map, key] = [site.group('map'), site.group('key')]
      return `${map}[${key}] = ${map}.get(${key}, 0) ${site.group('op')} `
    },
  },
  {
    kind: 'setdefault',
    language: 'python',
    find: /(?<map>[a-zA-Z_][\w.]*)\[(?<key>(?:[^[\]\n]|\[[^[\]\n]*\])+)\]\.(?<call>append|add|extend|update)\(/dg,
    prior: 0.4,
    clues,
    why: 'create the entry when the key is missing',
    to: (site) => {
      const empty =
        site.group('call') === 'add' ? 'set()' : site.group('call') === 'update' ? '{}' : '[]'
      return `${site.group('map')}.setdefault(${site.group('key')}, ${empty}).${site.group('call')}(`
    },
  },
  {
    kind: 'or-empty',
    language: 'python',
    find: /(?<=\bfor [\w, ]+ in )(?<list>[\w.]+)(?=:| if|\]|\)| for)/dg,
    prior: 0.2,
    clues: ['nothing'],
    why: 'treat a missing list as empty',
    to: (site) => `(${site.group('list')} or [])`,
  },
  {
    kind: 'or-empty-text',
    language: 'python',
    find: /(?<![\w.])(?<value>[a-z_]\w*)(?=\.(?:strip|lower|upper|split|replace|startswith|endswith|encode|title)\()/dg,
    prior: 0.2,
    clues: ['nothing'],
    why: 'treat a missing text as empty',
    to: (site) => (keywords.test(site.whole) ? null : `(${site.group('value')} or "")`),
  },
  {
    kind: 'guard-attribute',
    language: 'python',
    find: /(?<=\breturn )(?<value>[a-z_]\w*)\.[\w.]+(?:\([^()\n]*\))?(?=[ \t]*$)/dgm,
    prior: 0.2,
    clues: ['nothing'],
    why: 'return None when the value is missing',
    to: (site) =>
      keywords.test(site.group('value'))
        ? null
        : `${site.whole} if ${site.group('value')} is not None else None`,
  },
  {
    kind: 'guard-division',
    language: 'python',
    find: /(?<=\breturn )(?<value>[^\n]+ (?:\/|\/\/) (?<divisor>[\w.]+(?:\([^()\n]*\))?))(?=[ \t]*$)/dgm,
    prior: 0.25,
    clues: ['division', 'nothing'],
    why: 'do not divide by zero when there is nothing to count',
    to: (site) =>
      ['0', '0.0', 'None'].map(
        (value) => `${site.whole} if ${site.group('divisor')} else ${value}`,
      ),
  },
  {
    kind: 'empty-extreme',
    language: 'python',
    find: /\b(?<name>max|min)\(/dg,
    call: true,
    prior: 0.15,
    clues: ['nothing', 'default'],
    why: 'give the extreme of an empty list a default',
    to: (site) =>
      site.args.length === 1 || site.args[1]?.startsWith('key')
        ? ['0', 'None'].map(
            (value) => `${site.group('name')}(${site.args.join(', ')}, default=${value})`,
          )
        : null,
  },
  {
    kind: 'guard-index',
    language: 'python',
    find: /(?<=\breturn )(?<list>[a-z_][\w.]*)\[(?:0|-1)\](?=[ \t]*$)/dgm,
    prior: 0.3,
    clues: ['nothing', 'boundary'],
    why: 'return None for an empty list',
    to: (site) => `${site.whole} if ${site.group('list')} else None`,
  },
]

const scriptRules: Rule[] = [
  {
    kind: 'optional-access',
    language: 'script',
    find: /(?<=[\w)\]])(?<dot>\.|\[)(?=[a-zA-Z_'"])/dg,
    prior: 0.1,
    clues,
    why: 'allow a missing value on the way',
    to: ({ whole, source, start }) => {
      const before = /[\w$]+$/.exec(source.code.slice(Math.max(0, start - 40), start))?.[0] ?? ')'
      const line = source.code.slice(source.code.lastIndexOf('\n', start) + 1, start)
      const assigned =
        /^[^\n]*?[^=!<>]=(?!=)/.test(source.code.slice(start).split('\n')[0] ?? '') &&
        !line.includes('=')
      if (keywords.test(before) || /\bimport\b|\bnew \w*$|: ?\w*$/.test(line) || assigned)
        return null
      return whole === '.' ? '?.' : '?.['
    },
  },
  {
    kind: 'fallback-for-missing',
    language: 'script',
    find: /(?<=\breturn )(?<value>[a-zA-Z_][\w.?]*(?:\[(?:[^[\]\n]|\[[^[\]\n]*\])+\]|\.get\([^()\n]*\)))(?=;?[ \t]*$)/dgm,
    prior: 0.12,
    clues: [...clues, 'default'],
    why: 'give a missing value a fallback',
    to: (site) => ['0', "''", 'null', '[]', '{}'].map((value) => `${site.whole} ?? ${value}`),
  },
  {
    kind: 'count-from-zero',
    language: 'script',
    find: /(?<place>[a-zA-Z_][\w.]*\[(?:[^[\]\n]|\[[^[\]\n]*\])+\]) (?<op>[-+])= /dg,
    prior: 0.4,
    clues: [...clues, 'number'],
    why: 'start from zero when the key is missing',
    to: (site) => `${site.group('place')} = (${site.group('place')} ?? 0) ${site.group('op')} `,
  },
  {
    kind: 'count-from-zero',
    language: 'script',
    find: /(?<value>[\w.]+\.get\([^()\n]*\)!?)(?= [-+] )/dg,
    prior: 0.4,
    clues: [...clues, 'number'],
    why: 'start from zero when the key is missing',
    to: (site) => `(${site.whole.replace(/!$/, '')} ?? 0)`,
  },
  {
    kind: 'create-entry',
    language: 'script',
    find: /(?<place>[a-zA-Z_][\w.]*\[(?:[^[\]\n]|\[[^[\]\n]*\])+\])!?\??\.(?=push\()/dg,
    prior: 0.4,
    clues,
    why: 'create the entry when the key is missing',
    to: (site) => `(${site.group('place')} ??= []).`,
  },
  {
    kind: 'or-empty',
    language: 'script',
    find: /(?<=\bof |Object\.(?:keys|values|entries)\()(?<value>[a-zA-Z_][\w.]*)(?=\))/dg,
    prior: 0.2,
    clues: ['nothing'],
    why: 'treat a missing collection as empty',
    to: (site) => `${site.whole} ?? []`,
  },
  {
    kind: 'reduce-from-zero',
    language: 'script',
    find: /\.reduce\(/dg,
    call: true,
    prior: 0.35,
    clues: ['nothing', 'default'],
    why: 'give the reduction of an empty list a start value',
    to: ({ args }) =>
      args.length === 1 ? ['0', "''"].map((value) => `.reduce(${args[0]}, ${value})`) : null,
  },
  {
    kind: 'guard-division',
    language: 'script',
    find: /(?<=\breturn )(?<value>[^\n;]+ \/ (?<divisor>[\w.]+))(?=;?[ \t]*$)/dgm,
    prior: 0.25,
    clues: ['division', 'nothing'],
    why: 'do not divide by zero when there is nothing to count',
    to: (site) =>
      isSimple(site.group('divisor'))
        ? ['0', 'null'].map((value) => `${site.group('divisor')} === 0 ? ${value} : ${site.whole}`)
        : null,
  },
]

export const nullGuards = familyOf('null-guards', [...pythonRules, ...scriptRules])
