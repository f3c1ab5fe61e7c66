import { lineAt, type Rule, type Site } from '../rule.ts'

type Part = 'trim' | 'lower' | 'separator' | 'several'

/** Normalisers that a value has already, so that none is added twice. */
export const has = (site: Site, name: string) =>
  lineAt(site.source, site.start).includes(`${name}(`)

function pythonForms(value: string, site: Site): string[] {
  const lower = has(site, '.lower') ? '' : '.lower()'
  const under = has(site, '.replace') ? '' : '.replace("-", "_")'
  const strip = has(site, '.strip') ? '' : '.strip()'
  return combined(value, strip, lower, under)
}

function scriptForms(value: string, site: Site): string[] {
  const lower = has(site, '.toLowerCase') ? '' : '.toLowerCase()'
  const under = has(site, '.replaceAll') || has(site, '.replace') ? '' : ".replaceAll('-', '_')"
  const trim = has(site, '.trim') ? '' : '.trim()'
  return combined(value, trim, lower, under)
}

function combined(value: string, trim: string, lower: string, separator: string): string[] {
  const forms = [trim, lower, separator, lower + separator, trim + lower, trim + lower + separator]
  return [...new Set(forms)].filter((form) => form !== '').map((form) => value + form)
}

const normalised = (value: string, site: Site) =>
  site.source.language === 'python' ? pythonForms(value, site) : scriptForms(value, site)

/** Which part of the family a form of a value belongs to: one rule would give all the same clues. */
function only(part: Part) {
  return (value: string, site: Site): string[] =>
    normalised(value, site).filter((form) => partOf(form.slice(value.length)) === part)
}

function partOf(added: string): string {
  if (/^\.(?:strip|trim)\(\)$/.test(added)) return 'trim'
  if (/^\.(?:lower|toLowerCase)\(\)$/.test(added)) return 'lower'
  return /^\.replace/.test(added) ? 'separator' : 'several'
}

/** A value that is returned, assigned, or looked up, where its form matters. */
function rulesFor(part: Part): Rule[] {
  const details = {
    trim: { clues: ['whitespace'], why: 'trim surrounding whitespace from the value', prior: 0.18 },
    lower: { clues: ['case'], why: 'lower-case the value before it is used', prior: 0.16 },
    separator: {
      clues: ['separator'],
      why: 'replace dashes by underscores in the value',
      prior: 0.2,
    },
    several: {
      clues: ['separator', 'case'],
      why: 'normalise case, separators and whitespace of the value',
      prior: 0.16,
    },
  } as const
  const { clues, why, prior } = details[part]
  const forms = only(part)
  const common = { clues, why }
  return [
    {
      ...common,
      kind: `${part}-returned-value`,
      language: 'any',
      find: /(?<=\breturn )(?<value>[\w.]+(?:\([^()\n]*\)|\[[^[\]\n]*\])?(?:\.\w+\([^()\n]*\))*)(?=;?[ \t]*$)/dgm,
      prior,
      to: (site) => (isPlain(site.whole) ? forms(site.whole, site) : null),
    },
    {
      ...common,
      kind: `${part}-assigned-value`,
      language: 'any',
      find: /(?<=^[ \t]*(?:const |let |var )?\w+(?:: ?\w+)? = )(?<value>[\w.]+(?:\([^()\n]*\)|\[[^[\]\n]*\])?(?:\.\w+\([^()\n]*\))*)(?=;?[ \t]*$)/dgm,
      prior: prior * 0.8,
      to: (site) => (isPlain(site.whole) ? forms(site.whole, site) : null),
    },
    {
      ...common,
      kind: `${part}-arrow-value`,
      language: 'script',
      find: /(?<=\(?(?<name>\w+)(?:: ?\w+)?\)?(?:: ?\w+)? =>\s)\k<name>(?:\.\w+\([^()\n]*\))*(?=[,);\n])/dg,
      prior,
      to: (site) => forms(site.whole, site),
    },
    {
      ...common,
      kind: `${part}-lookup-key`,
      language: 'any',
      find: /(?<=\w\.(?:get|has|set|add|setdefault|includes|append|push)\()(?<value>[a-zA-Z_]\w*(?:\.\w+(?:\(\))?)*)(?=[,)])/dg,
      prior: prior * 0.8,
      to: (site) => forms(site.whole, site),
    },
    {
      ...common,
      kind: `${part}-index-key`,
      language: 'any',
      find: /(?<=[\w)]\[)(?<value>[a-zA-Z_]\w*(?:\.\w+(?:\(\))?)*)(?=\])/dg,
      prior: prior * 0.7,
      to: (site) => forms(site.whole, site),
    },
    {
      ...common,
      kind: `${part}-comprehended-value`,
      language: 'python',
      find: /(?<=[[({]\s*)(?<value>\w+(?:\.\w+\([^()\n]*\))*)(?= for \w+|: [\w.()[\]"]+ for )/dg,
      prior: prior * 1.2,
      to: (site) => forms(site.whole, site),
    },
  ]
}

/** Names and calls; numbers, keywords and whole literals have no form to normalise. */
const isPlain = (value: string) =>
  !/^(?:\d|true$|false$|True$|False$|None$|null$|undefined$|new\b|this$|self$|function\b|await\b)/.test(
    value,
  )

/** Normalising a value where it is returned, assigned or looked up. */
export const valueFormRules: readonly Rule[] = (
  ['trim', 'lower', 'separator', 'several'] as const
).flatMap(rulesFor)
