import { functionAt, functionsOf } from '../functions.ts'
import type { Family, Project, Proposal, Rule } from '../rule.ts'
import { familyOf, type Site } from '../rule.ts'
import type { Source } from '../source.ts'

const knownAsync =
  /(?<![\w.])(?:fetch|readFile|writeFile|setTimeoutAsync|sleep|delay)$|(?:asyncio|fs|fsp|promises)\.\w+$|\.(?:json|text|arrayBuffer)$/

/** Calls of functions that answer with a promise or coroutine, inside functions that could wait. */
function missingAwaits(source: Source, { asyncNames }: Project): Proposal[] {
  const functions = functionsOf(source)
  const calls = source.code.matchAll(/(?<![\w.])(?<callee>[a-zA-Z_][\w.]*)(?=\()/g)
  return [...calls].flatMap((call) => {
    const callee = call[0]
    const before = source.code.slice(Math.max(0, call.index - 30), call.index)
    const waits = functionAt(functions, call.index)?.isAsync === true
    const handedOn = /=>\s*$|\breturn\s+$/.test(before)
    if (!waits || /\b(?:await|function|def|new|class|async)\s+$/.test(before)) return []
    const name = callee.split('.').at(-1) ?? callee
    const certain = !handedOn && (asyncNames.has(name) || knownAsync.test(callee))
    const text = `await ${callee}`
    return [
      {
        start: call.index,
        end: call.index + callee.length,
        text,
        kind: 'missing-await',
        prior: certain ? 0.9 : 0.06,
        clues: ['await', ...(certain ? (['nothing', 'boolean', 'type'] as const) : [])],
        rationale: `wait for ${name} before its result is used`,
      } satisfies Proposal,
    ]
  })
}

/** Functions that end with a bare expression and give nothing back. */
function missingReturns(source: Source): Proposal[] {
  return functionsOf(source).flatMap((each) => {
    const body = source.code.slice(each.start, each.end)
    const last = /\n(?<indent>[ \t]+)(?<line>[^\s}][^\n]*)\n?[\s})\];]*$/d.exec(body)
    const range = last?.indices?.groups?.line
    const line = last?.groups?.line ?? ''
    if (!range || /^(?:return|raise|throw|yield|pass|def|class|@|\)|\])/.test(line)) return []
    const start = each.start + range[0]
    return returnsFor(source, start, line, last?.groups?.indent ?? '').map((change) => ({
      ...change,
      kind: 'missing-return',
      prior: /\breturn\b/.test(body) ? 0.12 : 0.45,
      clues: ['return', 'nothing'] as const,
      rationale: `return the result of ${each.name}`,
    }))
  })
}

type Change = Pick<Proposal, 'start' | 'end' | 'text'>

function returnsFor(source: Source, start: number, line: string, indent: string): Change[] {
  const end =
    source.text.indexOf('\n', start) < 0 ? source.text.length : source.text.indexOf('\n', start)
  const text = source.text.slice(start, end)
  const assigned = /^(?:const |let |var )?(?<name>[a-zA-Z_]\w*)(?:: [\w<>[\] ]+)? [-+*/]?= /.exec(
    line,
  )
  if (assigned) {
    const name = assigned.groups?.name ?? ''
    return [
      { start, end, text: `${text}\n${indent}return ${name}` },
      { start, end, text: `return ${text.slice(assigned[0].length)}` },
    ]
  }
  if (/^(?:if|for|while|else|elif|try|except|finally|with|switch|\})/.test(line)) return []
  return [{ start, end, text: `return ${text}` }]
}

/** Calls without an effect, and arithmetic: as a statement of its own the value is lost. */
const pureCall = String.raw`(?:round|int|str|float|len|sum|min|max|sorted|list|dict|set|tuple|abs|Math\.\w+|Number|String|Object\.(?:keys|values|entries|fromEntries)|JSON\.\w+)\([^\n]*\)`
const arithmetic = String.raw`[\w.]+ (?:[-+*\/%]|\*\*|===?|!==?|[<>]=?|&&|\|\||and|or) [^\n=]+?`

/** Not a part of an expression that goes over several lines. */
function isStatement({ source, start, whole }: Site): boolean {
  const before = source.code.slice(0, start).trimEnd()
  const after = source.code.slice(start + whole.length).trimStart()
  const open = source.language === 'python' ? /[([{,=+\-*/<>|&\\]$/ : /[([,=?:&|+\-*/<>!]$/
  return !open.test(before) && !/^[)\],.?:&|+\-*/=<>]/.test(after)
}

const rules: Rule[] = [
  {
    kind: 'discarded-value',
    language: 'any',
    find: new RegExp(
      `(?<=\\n[ \\t]+)(?!return|if|for|while|elif|else|assert|not|case|from|import|yield|await|raise|throw)(?:${pureCall}|${arithmetic})(?=;?[ \\t]*(?:\\n|$))`,
      'dg',
    ),
    prior: 0.5,
    clues: ['return', 'nothing'],
    why: 'return the value that was computed and lost',
    to: (site) => (isStatement(site) ? `return ${site.whole}` : null),
  },
  {
    kind: 'promise-all',
    language: 'script',
    find: /(?<!Promise\.all\()(?<![\w.])(?<list>[\w.]+)\.map\((?=async\b)/dg,
    call: true,
    prior: 0.6,
    clues: ['await'],
    why: 'wait for all promises of the list',
    to: ({ whole }) => `await Promise.all(${whole})`,
  },
  {
    kind: 'arrow-without-return',
    language: 'script',
    find: /(?<==> \{\s*)(?<value>(?!return\b|const\b|let\b|if\b|for\b|await\b|throw\b)[\w.[\]'"]+(?:\([^()\n]*\))?(?: [-+*/<>=!&|?]+ [^;\n{}]+)?)(?=;?\s*\})/dg,
    prior: 0.4,
    clues: ['return', 'nothing'],
    why: 'return the value of the arrow function',
    to: ({ whole }) => `return ${whole}`,
  },
  {
    kind: 'return-outside-loop',
    language: 'python',
    find: /(?<=\n)(?<indent>[ ]{8,}|\t{2,})return [a-z_]\w*(?=[ \t]*(?:\n|$))/dg,
    prior: 0.25,
    clues: ['length', 'boundary', 'return', 'number'],
    why: 'return after the loop instead of in its first round',
    to: ({ whole, source, start }) => {
      const outer = whole.replace(/^(?: {4}|\t)/, '')
      const indent = /^\s*/.exec(outer)?.[0] ?? ''
      const header = source.code
        .slice(0, start)
        .split('\n')
        .findLast((line) => line.startsWith(indent) && /\S/.test(line.charAt(indent.length)))
      return /^\s*(?:async )?(?:for|while)\b/.test(header ?? '') ? outer : null
    },
  },
]

const table = familyOf('await-and-return', rules)

export const awaitAndReturn: Family = {
  name: 'await-and-return',
  propose: (source, project) => [
    ...missingAwaits(source, project),
    ...missingReturns(source),
    ...table.propose(source, project),
  ],
}
