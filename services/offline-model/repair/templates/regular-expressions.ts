import { familyOf, type Rule } from '../rule.ts'

const clues = ['pattern', 'all'] as const

/** The slips of the pattern itself, each mended by itself. */
function patternForms(pattern: string): string[] {
  const anchored = `${pattern.startsWith('^') ? '' : '^'}${pattern}${pattern.endsWith('$') ? '' : '$'}`
  const forms = [
    anchored,
    pattern.replace(/\.([*+])(?!\?)/g, '.$1?'),
    pattern.replace(/(?<!\\)\.(?![*+?{])/g, '\\.'),
    pattern.replace(/\[a-z/g, '[A-Za-z'),
    pattern.replace(/\[a-zA-Z\]/g, '[a-zA-Z0-9]'),
    pattern.replace(/(\\[dwsS]|\])(?![*+?{])/, '$1+'),
    pattern.replace(/\+(?!\?)/, '*'),
    pattern.replace(/(?<!\\)\*(?!\?)/, '+'),
    pattern.replace(/^\^/, ''),
    pattern.replace(/\$$/, ''),
  ]
  return [...new Set(forms)].filter((form) => form !== pattern && form !== '')
}

const rules: Rule[] = [
  {
    kind: 'regex-flags',
    language: 'script',
    find: /(?<=\/)(?<flags>[dgimsuvy]*)(?=[,);.\s])(?<=[=(,:[ ]\/[^\n/]*\/[dgimsuvy]*)/dg,
    prior: 0.45,
    clues: [...clues, 'case', 'separator', 'whitespace'],
    why: 'give the pattern the flags that it needs',
    to: ({ whole }) => {
      const added = ['g', 'i', 'u', 'm'].filter((flag) => !whole.includes(flag))
      return [
        ...added.map((flag) => `${whole}${flag}`),
        ...(whole.includes('g') ? [whole.replace('g', '')] : []),
      ]
    },
  },
  {
    kind: 'regex-pattern',
    language: 'script',
    find: /(?<=[=(,:[ ])\/(?<pattern>[^\n/]+)\/(?=[dgimsuvy]*[,);.\s])/dg,
    prior: 0.3,
    clues,
    why: 'mend the pattern: its anchors, its repetition, or what it lets through',
    to: (site) => patternForms(site.group('pattern')).map((form) => `/${form}/`),
  },
  {
    kind: 'regex-function',
    language: 'python',
    find: /(?<=\bre\.)(?:match|search|fullmatch)(?=\()|(?<=\w\.)(?:fullmatch|match|search)(?=\([a-z_]\w*\))/dg,
    prior: 0.4,
    clues: [...clues, 'logic', 'boolean'],
    why: 'match the whole text, or anywhere in it',
    to: ({ whole }) => ['fullmatch', 'search', 'match'].filter((name) => name !== whole),
  },
  {
    kind: 'regex-pattern',
    language: 'python',
    find: /(?<=\bre\.\w+\()(?<open>r?["'])(?<pattern>[^"'\n]*)(?=["'])/dg,
    prior: 0.3,
    clues,
    why: 'mend the pattern: its anchors, its repetition, or what it lets through',
    to: (site) => patternForms(site.group('pattern')).map((form) => `${site.group('open')}${form}`),
  },
  {
    kind: 'regex-flags',
    language: 'python',
    find: /\bre\.(?:compile|match|search|findall|fullmatch|sub|split)\(/dg,
    call: true,
    prior: 0.3,
    clues: [...clues, 'case'],
    why: 'give the pattern the flags that it needs',
    to: ({ whole }) =>
      /flags=|re\.[A-Z]/.test(whole.slice(8))
        ? null
        : ['re.IGNORECASE', 're.MULTILINE', 're.DOTALL'].map(
            (flag) => `${whole.slice(0, -1)}, flags=${flag})`,
          ),
  },
]

export const regularExpressions = familyOf('regular-expressions', rules)
