import { familyOf, type Rule } from '../rule.ts'
import { has, valueFormRules } from './value-forms.ts'

const isText = (text: string) => /^(['"`]).*\1$/.test(text)

/** Lists in one line are written with spaces between their parts; other splits seldom need a trim. */
function trimPartsRules(separator: RegExp, prior: number): Rule[] {
  const common = {
    kind: 'trim-parts',
    receiver: true,
    call: true,
    prior,
    clues: ['whitespace'],
    why: 'trim surrounding whitespace from each part after splitting',
  } as const
  return [
    {
      ...common,
      language: 'script',
      find: /\??\.split\(/dg,
      to: ({ whole, args, source, start }) => {
        const after = source.code.slice(start + whole.length, start + whole.length + 60)
        const trimmed = /^\s*\.map\(\(?(\w+)\)? => \1\.trim\(\)/.test(after)
        return trimmed || !separator.test(args[0] ?? '')
          ? null
          : `${whole}.map((part) => part.trim())`
      },
    },
    {
      ...common,
      language: 'python',
      find: /\.split\(/dg,
      to: (site) =>
        has(site, '.strip') || !separator.test(site.args[0] ?? '')
          ? null
          : `[part.strip() for part in ${site.whole}]`,
    },
  ]
}

const rules: Rule[] = [
  ...trimPartsRules(/^.[,;|:=].$/, 0.55),
  ...trimPartsRules(/^(?!.[,;|:=].$)./, 0.2),
  {
    kind: 'drop-empty-parts',
    language: 'script',
    find: /\??\.split\(/dg,
    receiver: true,
    call: true,
    prior: 0.15,
    clues: ['whitespace', 'nothing'],
    why: 'trim the parts after splitting and drop the empty ones',
    to: ({ whole }) => `${whole}.map((part) => part.trim()).filter((part) => part !== '')`,
  },
  {
    kind: 'drop-empty-parts',
    language: 'python',
    find: /\.split\(/dg,
    receiver: true,
    call: true,
    prior: 0.15,
    clues: ['whitespace', 'nothing'],
    why: 'trim the parts after splitting and drop the empty ones',
    to: ({ whole, args }) => [
      `[part.strip() for part in ${whole} if part.strip()]`,
      ...(args.length === 1 && isText(args[0] ?? '') && args[0]?.length === 3
        ? [whole.replace(/\([^()]*\)$/, '()')]
        : []),
    ],
  },
  {
    kind: 'replace-all',
    language: 'script',
    find: /\.replace\(/dg,
    receiver: true,
    call: true,
    prior: 0.4,
    clues: ['all', 'separator'],
    why: 'replace every occurrence instead of the first only',
    to: ({ receiver, args }) =>
      isText(args[0] ?? '') ? `${receiver}.replaceAll(${args.join(', ')})` : null,
  },
  {
    kind: 'replace-all',
    language: 'python',
    find: /\.replace\(/dg,
    receiver: true,
    call: true,
    prior: 0.4,
    clues: ['all', 'separator'],
    why: 'replace every occurrence instead of the first only',
    to: ({ receiver, args }) =>
      args.length === 3 ? `${receiver}.replace(${args.slice(0, 2).join(', ')})` : null,
  },
  {
    kind: 'other-case',
    language: 'any',
    find: /\.(?<name>lower|upper|toLowerCase|toUpperCase)\(\)/dg,
    prior: 0.15,
    clues: ['case'],
    why: 'use the other letter case',
    to: (site) => [`.${otherCase[site.group('name')]}()`, ''],
  },
  {
    kind: 'case-fold-chain',
    language: 'any',
    find: /(?<=\w|\))\.(?:strip|trim|replace|replaceAll)\((?:[^()\n]*)\)/dg,
    prior: 0.3,
    clues: ['case'],
    why: 'lower-case the value as well when it is normalised',
    to: (site) =>
      has(site, '.lower') || has(site, '.toLowerCase')
        ? null
        : `${site.whole}${site.source.language === 'python' ? '.lower()' : '.toLowerCase()'}`,
  },
  {
    kind: 'separator-chain',
    language: 'any',
    find: /(?<=\w|\))\.(?:strip|trim|lower|toLowerCase)\(\)/dg,
    prior: 0.3,
    clues: ['separator'],
    why: 'replace dashes by underscores as well when the value is normalised',
    to: (site) =>
      site.source.language === 'python'
        ? [
            `${site.whole}.replace("-", "_")`,
            `${site.whole}.replace(" ", "-")`,
            `${site.whole}.replace(" ", "_")`,
          ]
        : [
            `${site.whole}.replaceAll('-', '_')`,
            `${site.whole}.replaceAll(' ', '-')`,
            `${site.whole}.replaceAll(' ', '_')`,
          ],
  },
  {
    kind: 'trim-chain',
    language: 'any',
    find: /(?<=\w|\))\.(?:lower|toLowerCase|upper|toUpperCase|replace|replaceAll)\((?:[^()\n]*)\)/dg,
    prior: 0.3,
    clues: ['whitespace'],
    why: 'trim surrounding whitespace as well when the value is normalised',
    to: (site) =>
      has(site, '.strip') || has(site, '.trim')
        ? null
        : `${site.source.language === 'python' ? '.strip()' : '.trim()'}${site.whole}`,
  },
  {
    kind: 'other-separator',
    language: 'any',
    find: /\.(?<name>replace|replaceAll|join|split)\((?<args>[^()\n]*)\)/dg,
    prior: 0.12,
    clues: ['separator', 'whitespace'],
    why: 'use the other separator',
    to: (site) => otherSeparators(site.group('name'), site.group('args')),
  },
  {
    kind: 'collapse-whitespace',
    language: 'script',
    find: /\.(?:replace|split)\((?<quoted>'[^'\n]*'|"[^"\n]*")(?=[,)])/dg,
    prior: 0.15,
    clues: ['whitespace', 'all'],
    why: 'treat a run of whitespace as one',
    to: (site) =>
      site.group('quoted').trim().length === 3 && /\s/.test(site.group('quoted'))
        ? site.whole.replace(site.group('quoted'), '/\\s+/g')
        : null,
  },
  ...valueFormRules,
]

const otherCase: Record<string, string> = {
  lower: 'upper',
  upper: 'lower',
  toLowerCase: 'toUpperCase',
  toUpperCase: 'toLowerCase',
}

/** Both orders of a replacement, and the common separators in its place. */
function otherSeparators(name: string, args: string): string[] {
  const parts = args.split(/,(?=\s*['"])/).map((part) => part.trim())
  const [first = '', second = ''] = parts
  if (!isText(first)) return []
  const quote = first.charAt(0)
  const marks = ['-', '_', ' ', ',', ', ', '.'].map((mark) => `${quote}${mark}${quote}`)
  if (!marks.includes(first) && first !== `${quote}${quote}`) return []
  if (parts.length === 1) return marks.map((mark) => `.${name}(${mark})`)
  if (!isText(second)) return []
  return [
    `.${name}(${second}, ${first})`,
    ...marks.slice(0, 3).map((mark) => `.${name}(${first}, ${mark})`),
  ].filter((form) => !form.includes(`(${first}, ${first})`))
}

export const stringNormalisation = familyOf('string-normalisation', rules)
