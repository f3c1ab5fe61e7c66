import { familyOf, type Rule } from '../rule.ts'

const clues = ['shared'] as const
const constantCase = /^[A-Z][A-Z0-9_]*$/

const pythonRules: Rule[] = [
  {
    kind: 'copy-returned-state',
    language: 'python',
    find: /(?<=\breturn )(?<value>self\.\w+|[A-Z][A-Z0-9_]+)(?=[ \t]*$)/dgm,
    prior: 0.15,
    clues,
    why: 'hand out a copy, so that callers cannot change the shared state',
    to: ({ whole }) => [`list(${whole})`, `dict(${whole})`, `${whole}.copy()`],
  },
  {
    kind: 'copy-shared-defaults',
    language: 'python',
    find: /(?<= = )(?<value>[A-Z][A-Z0-9_]+|[\w.]*(?:default|DEFAULT|base|template)\w*)(?=[ \t]*$)/dgm,
    prior: 0.5,
    clues: [...clues, 'default'],
    why: 'work on a copy of the shared defaults',
    to: ({ whole }) => [`dict(${whole})`, `list(${whole})`, `${whole}.copy()`],
  },
  {
    kind: 'copy-given-value',
    language: 'python',
    find: /(?<=\bself\.\w+(?:: [^=\n]+)? = )(?<value>[a-z_]\w*)(?=[ \t]*$)/dgm,
    prior: 0.12,
    clues,
    why: 'keep a copy of the given collection',
    to: ({ whole }) =>
      /^(?:None|True|False)$/.test(whole) ? null : [`list(${whole})`, `dict(${whole})`],
  },
  {
    kind: 'copy-before-change',
    language: 'python',
    find: /(?<=^[ \t]*[a-z_]\w* = )(?<value>[a-z_]\w*)(?=[ \t]*$)/dgm,
    prior: 0.12,
    clues,
    why: 'change a copy instead of the given value',
    to: ({ whole }) => [`list(${whole})`, `dict(${whole})`],
  },
  {
    kind: 'sorted-copy',
    language: 'python',
    find: /(?<=^[ \t]*)(?<list>[\w.]+)\.(?<call>sort|reverse)\((?<args>[^()\n]*)\)(?=[ \t]*$)/dgm,
    prior: 0.3,
    clues: [...clues, 'order', 'nothing'],
    why: 'sort a copy instead of the list of the caller',
    to: (site) => {
      const list = site.group('list')
      const args = site.group('args') === '' ? '' : `, ${site.group('args')}`
      return site.group('call') === 'sort'
        ? `${list} = sorted(${list}${args})`
        : `${list} = list(reversed(${list}))`
    },
  },
  {
    kind: 'rows-of-their-own',
    language: 'python',
    find: /\[(?<row>\[[^[\]\n]*\](?: \* [\w.]+)?)\] \* (?<count>[\w.]+)/dg,
    prior: 0.8,
    clues,
    why: 'give every row a list of its own',
    to: (site) => `[${site.group('row')} for _ in range(${site.group('count')})]`,
  },
  {
    kind: 'values-of-their-own',
    language: 'python',
    find: /\bdict\.fromkeys\((?<keys>[^,()\n]+), (?<value>\[\]|\{\}|set\(\)|list\(\)|dict\(\))\)/dg,
    prior: 0.8,
    clues,
    why: 'give every key a value of its own',
    to: (site) => `{key: ${site.group('value')} for key in ${site.group('keys')}}`,
  },
  {
    kind: 'bind-loop-variable',
    language: 'python',
    find: /\blambda(?<params> [\w, ]+)?: (?=[^\n]*\bfor\b|[^\n]*)/dg,
    prior: 0.15,
    clues: [...clues, 'arguments'],
    why: 'bind the loop variable when the function is made',
    to: (site) => {
      const before = site.source.code.slice(0, site.start)
      const after = site.source.code.slice(site.start).split('\n')[0] ?? ''
      const variable =
        /\bfor (\w+) in\b/.exec(after)?.[1] ?? /.*\bfor (\w+) in\b/s.exec(before)?.[1]
      if (variable === undefined) return null
      const params = site.group('params').trim()
      return `lambda ${params === '' ? '' : `${params}, `}${variable}=${variable}: `
    },
  },
]

const scriptRules: Rule[] = [
  {
    kind: 'copy-returned-state',
    language: 'script',
    find: /(?<=\breturn )(?<value>this\.#?\w+|[a-zA-Z_]\w*)(?=;?[ \t]*$)/dgm,
    prior: 0.1,
    clues,
    why: 'hand out a copy, so that callers cannot change the shared state',
    to: ({ whole }) =>
      /^(?:true|false|null|undefined|this)$/.test(whole)
        ? null
        : [`[...${whole}]`, `{ ...${whole} }`],
  },
  {
    kind: 'copy-shared-defaults',
    language: 'script',
    find: /(?<=(?:=|\?\?|\|\||:|=>) )(?<value>[a-zA-Z_][\w.]*)(?=[;,)\n]|$)/dgm,
    prior: 0.3,
    clues: [...clues, 'default'],
    why: 'work on a copy of the shared defaults',
    to: ({ whole }) =>
      constantCase.test(whole) || /default|base|template|initial/i.test(whole)
        ? [`{ ...${whole} }`, `[...${whole}]`, `structuredClone(${whole})`]
        : null,
  },
  {
    kind: 'copy-given-value',
    language: 'script',
    find: /(?<=(?:this\.#?\w+|(?:const|let) \w+(?:: [^=\n]+)?) = )(?<value>[a-z]\w*)(?=;?[ \t]*$)/dgm,
    prior: 0.1,
    clues,
    why: 'keep a copy of the given value',
    to: ({ whole }) =>
      /^(?:true|false|null|undefined|this)$/.test(whole)
        ? null
        : [`[...${whole}]`, `{ ...${whole} }`],
  },
  {
    kind: 'assign-to-copy',
    language: 'script',
    find: /(?<=\bObject\.assign\()(?<target>[\w.]+)(?=,)/dg,
    prior: 0.6,
    clues: [...clues, 'default'],
    why: 'merge into a new object instead of the shared one',
    to: ({ whole }) => `{}, ${whole}`,
  },
  {
    kind: 'sorted-copy',
    language: 'script',
    find: /\.(?:sort|reverse|splice)\(/dg,
    receiver: true,
    prior: 0.35,
    clues: [...clues, 'order'],
    why: 'sort a copy instead of the list of the caller',
    to: ({ receiver, whole }) =>
      receiver.startsWith('[...') || /\)$/.test(receiver)
        ? null
        : `[...${receiver}]${whole.slice(receiver.length)}`,
  },
  {
    kind: 'rows-of-their-own',
    language: 'script',
    find: /(?:new )?Array\((?<count>[^()\n]+)\)\.fill\((?<value>\[\]|\{\}|(?:new )?Array\([^()\n]*\)(?:\.fill\([^()\n]*\))?)\)/dg,
    prior: 0.8,
    clues,
    why: 'give every row a list of its own',
    to: (site) => {
      const value = site.group('value')
      return `Array.from({ length: ${site.group('count')} }, () => ${value === '{}' ? '({})' : value})`
    },
  },
  {
    kind: 'loop-variable-of-its-own',
    language: 'script',
    find: /(?<=\bfor \()var\b/dg,
    prior: 0.7,
    clues,
    why: 'give every round of the loop a variable of its own',
    to: () => 'let',
  },
]

export const sharedState = familyOf('shared-state', [...pythonRules, ...scriptRules])
