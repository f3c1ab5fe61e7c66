import type { Command, Help } from 'commander'
import type { Page } from './page.ts'
import { pages } from './pages.ts'

/** What every command may end with; its own codes come before. */
const commonExit: NonNullable<Page['exit']> = [
  ['0', 'done'],
  ['1', 'something failed; the message says what'],
  ['2', 'wrong usage or configuration; nothing was done'],
  ['130', 'interrupted'],
]

/** Help as a manual page has it: sections, and only those that say something. */
export function formatHelp(command: Command, helper: Help): string {
  return sectionsOf(command, helper)
    .map(({ title, lines }) => `${helper.styleTitle(title)}\n${lines.join('\n')}\n`)
    .join('\n')
}

/** `lines` are indented and wrapped. */
export type Section = { title: string; lines: string[] }

export function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : []
}

export function sectionsOf(command: Command, helper: Help): Section[] {
  const path = pathOf(command)
  const page = pages[path.join(' ')]
  const terms = (pairs: readonly (readonly [string, string])[]) => itemLines(pairs, helper)
  const sections: Section[] = [
    { title: 'NAME', lines: [`  ${['astra', ...path].join(' ')} - ${command.description()}`] },
    { title: 'SYNOPSIS', lines: [`  ${helper.commandUsage(command)}`] },
    { title: 'DESCRIPTION', lines: indented(page?.details) },
    { title: 'ARGUMENTS', lines: terms(argumentTerms(command, helper)) },
    ...commandSections(command, helper),
    { title: 'OPTIONS', lines: terms(optionTerms(command, helper)) },
    { title: 'EXAMPLES', lines: exampleLines(page) },
    { title: 'JSON', lines: indented(page?.json) },
    { title: 'EXIT STATUS', lines: terms(exitTerms(command, page)) },
    { title: 'ENVIRONMENT', lines: terms(page?.environment ?? []) },
    { title: 'FILES', lines: terms(page?.files ?? []) },
  ]
  return sections.filter(({ lines }) => lines.length > 0)
}

function argumentTerms(command: Command, helper: Help): [string, string][] {
  return helper
    .visibleArguments(command)
    .map((each) => [helper.argumentTerm(each), helper.argumentDescription(each)])
}

function optionTerms(command: Command, helper: Help): [string, string][] {
  return helper
    .visibleOptions(command)
    .map((each) => [helper.optionTerm(each), helper.optionDescription(each)])
}

/** One section for each group, in the order in which the program has them. */
function commandSections(command: Command, helper: Help): Section[] {
  const groups = Map.groupBy(helper.visibleCommands(command), (each) => each.helpGroup())
  return [...groups].map(([group, commands]) => ({
    title: group === '' ? 'COMMANDS' : `COMMANDS: ${group.replace(/:$/, '')}`,
    lines: itemLines(
      commands.map((each) => [helper.subcommandTerm(each), helper.subcommandDescription(each)]),
      helper,
    ),
  }))
}

function exitTerms(command: Command, page: Page | undefined): (readonly [string, string])[] {
  // A command that only has others below it ends as they do.
  if (command.commands.length > 0 && command.parent) return []
  const own = page?.exit ?? []
  const known = new Set(own.map(([code]) => code))
  const all = [...own, ...commonExit.filter(([code]) => !known.has(code))]
  return all.sort(([a], [b]) => Number(a) - Number(b))
}

function itemLines(pairs: readonly (readonly [string, string])[], helper: Help): string[] {
  const width = Math.max(0, ...pairs.map(([term]) => term.length))
  return pairs.map(([term, text]) => helper.formatItem(term, width, text, helper))
}

function exampleLines(page: Page | undefined): string[] {
  return (page?.examples ?? []).flatMap(([line, does]) => [`  ${line}`, `      ${does}`])
}

function indented(text: string | undefined): string[] {
  return text === undefined ? [] : text.split('\n').map((line) => (line === '' ? '' : `  ${line}`))
}
