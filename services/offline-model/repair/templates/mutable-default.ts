import { closingBracket } from '../expressions.ts'
import type { Family, Proposal } from '../rule.ts'
import type { Source } from '../source.ts'

const mutable = String.raw`\[\]|\{\}|set\(\)|list\(\)|dict\(\)`

/** `def f(items=[])`: one list for all calls. Each call gets one of its own. */
function parameterDefaults(source: Source): Proposal[] {
  const headers = source.code.matchAll(/^(?<indent>[ \t]*)(?:async )?def \w+\(/gm)
  return [...headers].flatMap((header) => {
    const open = header.index + header[0].length - 1
    const close = closingBracket(source.code, open)
    const bodyStart = /^[^:\n]*:[ \t]*\n/.exec(source.code.slice(close + 1))
    if (close < 0 || !bodyStart) return []
    const insertAt = afterDocstring(source, close + 1 + bodyStart[0].length)
    const indent = `${header.groups?.indent ?? ''}    `
    const parameters = source.code.slice(open, close)
    const found = parameters.matchAll(
      new RegExp(
        String.raw`(?<name>\w+)(?<type>\s*:\s*[^=,\n]+?)?(?<eq>\s*=\s*)(?<value>${mutable})`,
        'g',
      ),
    )
    return [...found].map((parameter) => {
      const { name = '', type = '', eq = '=', value = '' } = parameter.groups ?? {}
      const start = open + parameter.index
      const end = start + parameter[0].length
      const head = `${name}${type}${eq}None${source.text.slice(end, insertAt)}`
      const guard = `${indent}if ${name} is None:\n${indent}    ${name} = ${value}\n`
      return {
        start,
        end: insertAt,
        text: head + guard,
        kind: 'mutable-default-argument',
        prior: 0.8,
        clues: ['shared', 'default'],
        rationale: `make a new ${value} for ${name} in every call instead of sharing one`,
      } satisfies Proposal
    })
  })
}

function afterDocstring(source: Source, bodyStart: number): number {
  const doc = /^[ \t]*(?:"""[\s\S]*?"""|'''[\s\S]*?''')[ \t]*\n/.exec(source.text.slice(bodyStart))
  return bodyStart + (doc?.[0].length ?? 0)
}

/** `items = []` in a class body: one list for all instances. */
function classAttributes(source: Source): Proposal[] {
  const attributes = source.code.matchAll(
    new RegExp(
      String.raw`^(?<indent>[ ]{4}|\t)(?<name>\w+)(?<type>: [^=\n]+?)? = (?<value>${mutable})[ \t]*\n`,
      'gm',
    ),
  )
  return [...attributes].flatMap((attribute) => {
    const before = source.code.slice(0, attribute.index)
    const owner = /^(?<head>[ \t]*)(?:class|def|async def) [^\n]*$/gm
    const last = [...before.matchAll(owner)].at(-1)
    if (!last?.[0].startsWith('class')) return []
    const { indent = '', name = '', value = '' } = attribute.groups ?? {}
    const rest = source.code.slice(attribute.index)
    const init = /^[ \t]+def __init__\([^\n]*:[ \t]*\n/m.exec(rest)
    const lineEnd = attribute.index + attribute[0].length
    const common = {
      kind: 'mutable-class-attribute',
      prior: 0.7,
      clues: ['shared'] as const,
      rationale: `give every instance a ${name} of its own`,
    }
    const assignment = `${indent}${indent}self.${name} = ${value}\n`
    if (!init) {
      const text = `${indent}def __init__(self):\n${assignment}`
      return [{ ...common, start: attribute.index, end: lineEnd, text }]
    }
    const bodyStart = attribute.index + init.index + init[0].length
    const text = source.text.slice(lineEnd, bodyStart) + assignment
    return [{ ...common, start: attribute.index, end: bodyStart, text }]
  })
}

export const mutableDefault: Family = {
  name: 'mutable-default',
  propose: (source) =>
    source.language === 'python' ? [...parameterDefaults(source), ...classAttributes(source)] : [],
}
