import type { Command } from 'commander'
import { pathOf, type Section, sectionsOf } from './format-help.ts'

const WIDTH = 100
/** Text that may flow; everything else is set as it is. */
const PROSE = new Set(['DESCRIPTION', 'JSON'])

/** All pages as docs/cli.md has them. */
export function markdownManual(program: Command): string {
  const pages = allPages(program).map(({ title, sections }) => {
    const [name, ...others] = sections
    const about = name?.lines[0]?.split(' - ').slice(1).join(' - ') ?? ''
    return [`## ${title}`, about, ...others.map(markdownSection)].join('\n\n')
  })
  return `# The command line\n\nWhat \`astra help\` and \`astra help COMMAND\` say, made from the program itself by\n\`node ops/run.mjs ops/write-manual.ts\`.\n\n${pages.join('\n\n')}\n`
}

function markdownSection({ title, lines }: Section): string {
  const text = lines.join('\n').replace(/^ {2}/gm, '')
  const isProse = PROSE.has(title) && !/^ {2}\S/m.test(text)
  return isProse ? `**${title}** ${text}` : `**${title}**\n\n\`\`\`text\n${text}\n\`\`\``
}

/** All pages as one manual page in troff. */
export function troffManual(program: Command, version: string): string {
  const [first, ...others] = allPages(program)
  const lines = [
    `.TH ASTRA 1 "" "astra ${version}" "User Commands"`,
    ...(first?.sections ?? []).flatMap(({ title, lines }) => [`.SH ${title}`, ...setLines(lines)]),
    ...others.flatMap(({ title, sections }) => [
      `.SH ${title.toUpperCase()}`,
      ...sections.flatMap(({ title, lines }) => [`.SS ${title}`, ...setLines(lines)]),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

function setLines(lines: readonly string[]): string[] {
  const text = lines.join('\n').split('\n')
  return ['.nf', ...text.map(escaped), '.fi']
}

/** A backslash begins an escape, and so does a dot or a quote in front of a line. */
function escaped(line: string): string {
  const text = line.replace(/^ {2}/, '').replaceAll('\\', '\\e').replaceAll('-', '\\-')
  return /^[.']/.test(text) ? `\\&${text}` : text
}

function allPages(program: Command): { title: string; sections: Section[] }[] {
  return withSubcommands(program).map((command) => {
    const helper = command.createHelp()
    helper.helpWidth = WIDTH
    const title = ['astra', ...pathOf(command)].join(' ')
    return { title, sections: sectionsOf(command, helper) }
  })
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)]
}
