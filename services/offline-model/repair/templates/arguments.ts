import { familyOf, type Rule } from '../rule.ts'

const rules: Rule[] = [
  {
    kind: 'swapped-arguments',
    language: 'any',
    find: /(?<![\w.])(?<callee>(?!if|for|while|switch|catch|function|range|return)[a-zA-Z_][\w.]*)\(/dg,
    call: true,
    prior: 0.2,
    clues: ['arguments', 'sign'],
    why: 'pass the arguments in the order that the function expects',
    to: (site) => {
      const { args, source, start } = site
      const defines = /\b(?:def|function|class)\s+$/.test(
        source.code.slice(Math.max(0, start - 12), start),
      )
      if (
        args.length < 2 ||
        args.length > 4 ||
        defines ||
        args.some((arg) => /=>|=(?!=)|:| for /.test(arg))
      )
        return null
      return args.slice(1).map((_, index) => {
        const swapped = [...args]
        swapped.splice(index, 2, args[index + 1] ?? '', args[index] ?? '')
        return `${site.group('callee')}(${swapped.join(', ')})`
      })
    },
  },
  {
    kind: 'swapped-operands',
    language: 'any',
    find: /(?<left>[\w.]+(?:\([^()\n]*\)|\[[^[\]\n]+\])?) (?<op>-|\/|%|\/\/|\*\*) (?<right>[\w.]+(?:\([^()\n]*\)|\[[^[\]\n]+\])?)/dg,
    prior: 0.2,
    clues: ['sign', 'number', 'arguments'],
    why: 'swap the operands',
    to: (site) =>
      /^\d/.test(site.group('right'))
        ? null
        : `${site.group('right')} ${site.group('op')} ${site.group('left')}`,
  },
  {
    kind: 'swapped-branches',
    language: 'script',
    find: / \? (?<yes>[^?:\n]+) : (?<no>[^?:\n;,)]+)/dg,
    prior: 0.25,
    clues: ['boolean', 'logic', 'order'],
    why: 'swap the two branches of the condition',
    to: (site) => ` ? ${site.group('no')} : ${site.group('yes')}`,
  },
  {
    kind: 'swapped-branches',
    language: 'python',
    find: /(?<=\breturn |= )(?<yes>[^\n=]+?) if (?<condition>[^\n]+?) else (?<no>[^\n]+)(?=[ \t]*$)/dgm,
    prior: 0.25,
    clues: ['boolean', 'logic', 'order'],
    why: 'swap the two branches of the condition',
    to: (site) => `${site.group('no')} if ${site.group('condition')} else ${site.group('yes')}`,
  },
  {
    kind: 'swapped-pair',
    language: 'any',
    find: /(?<=(?:\breturn |\[|const \[|for )\(?)(?<first>[a-z_]\w*), (?<second>[a-z_]\w*)(?=[)\]]|[ \t]*$| in )/dgm,
    prior: 0.15,
    clues: ['arguments', 'order'],
    why: 'swap the two values of the pair',
    to: (site) => `${site.group('second')}, ${site.group('first')}`,
  },
]

export const swappedArguments = familyOf('arguments', rules)
