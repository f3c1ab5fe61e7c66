import type { Clue } from './clues.ts'
import { closingBracket, receiverStart, splitArguments } from './expressions.ts'
import type { Source } from './source.ts'

/** A place where a rule's pattern was found, with its texts as they stand in the file. */
export type Site = {
  source: Source
  start: number
  /** All that will be replaced. */
  whole: string
  /** With `receiver`: the expression before the match. */
  receiver: string
  /** With `call`: the arguments. */
  args: string[]
  /** A named group's text; empty when it took no part. */
  group(name: string): string
}

/** One kind of slip and how it is mended. */
export type Rule = {
  kind: string
  language: 'python' | 'script' | 'any'
  /** Flags `dg`. It searches code in which strings and comments are blanked out. */
  find: RegExp
  /** The match begins with a dot: what stands before it belongs to it. */
  receiver?: true
  /** The match ends with an opening bracket: the arguments and the closing one belong to it. */
  call?: true
  /** New texts for the whole site; null or nothing when this site is not one. */
  to(site: Site): string | readonly string[] | null
  /** 0 to 1: how often such a site is the fault, when nothing else is known. */
  prior: number
  clues: readonly Clue[]
  /** What the change does, in the words of a fix description. */
  why: string
}

/** A change to one file, by offsets. */
export type Proposal = {
  start: number
  end: number
  text: string
  kind: string
  prior: number
  clues: readonly Clue[]
  rationale: string
}

/** What a family may know of the other files of the project. */
export type Project = { asyncNames: ReadonlySet<string> }

export type Family = {
  name: string
  propose(source: Source, project: Project): Proposal[]
}

/** A family of repairs that a table of rules describes. */
export function familyOf(name: string, rules: readonly Rule[]): Family {
  return { name, propose: (source) => rules.flatMap((rule) => proposalsOf(rule, source)) }
}

/** The forms of one repair are ordered: each is this much as likely as the one before. */
const LATER_FORM = 0.8

function proposalsOf(rule: Rule, source: Source): Proposal[] {
  const language = source.language === 'python' ? 'python' : 'script'
  if (rule.language !== 'any' && rule.language !== language) return []
  return [...source.code.matchAll(rule.find)].flatMap((match) => {
    const site = siteOf(rule, match, source)
    if (!site) return []
    const texts = rule.to(site) ?? []
    return (typeof texts === 'string' ? [texts] : texts)
      .filter((text) => text !== site.whole)
      .map((text, index) => ({
        start: site.start,
        end: site.start + site.whole.length,
        text,
        kind: rule.kind,
        prior: rule.prior * LATER_FORM ** index,
        clues: rule.clues,
        rationale: rule.why,
      }))
  })
}

function siteOf(rule: Rule, match: RegExpExecArray, source: Source): Site | null {
  const { text, code } = source
  const matchEnd = match.index + match[0].length
  const start = rule.receiver ? receiverStart(code, match.index) : match.index
  if (rule.receiver && start === match.index) return null
  const close = rule.call ? closingBracket(code, matchEnd - 1) : matchEnd - 1
  if (close < 0) return null
  const end = rule.call ? close + 1 : matchEnd
  return {
    source,
    start,
    whole: text.slice(start, end),
    receiver: text.slice(start, match.index),
    args: rule.call ? splitArguments(text.slice(matchEnd, close), code.slice(matchEnd, close)) : [],
    group(name) {
      const range = match.indices?.groups?.[name]
      return range ? text.slice(range[0], range[1]) : ''
    },
  }
}

/** The line that holds an offset, without its indentation. */
export function lineAt(source: Source, offset: number): string {
  const start = source.text.lastIndexOf('\n', offset - 1) + 1
  const end = source.text.indexOf('\n', offset)
  return source.text.slice(start, end < 0 ? undefined : end).trim()
}
