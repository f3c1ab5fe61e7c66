import type { Argument, Command, Option } from 'commander'
import { SCALED_SERVICES } from '../../../shared/contracts/supervisor.ts'
import type { Asked } from './asked-values.ts'

/** Where the shell finds what may stand at a place: words, names on the disk, or what we are asked for. */
export type Source = { words: readonly string[] } | 'files' | 'folders' | Asked

export type OptionShape = {
  flags: string[]
  description: string
  /** The name of its value; null: it takes none. */
  value: string | null
  sources: readonly Source[]
}

export type ArgumentShape = { name: string; required: boolean; sources: readonly Source[] }

/** What a shell has to know of one command. */
export type CommandShape = {
  /** Without the program's own name. */
  path: string[]
  description: string
  commands: CommandShape[]
  options: OptionShape[]
  args: ArgumentShape[]
}

/** What stands for a value in help says what it is. Those that are not here are typed freely. */
const sourcesByName: Record<string, readonly Source[]> = {
  workspace: ['folders'],
  file: ['files'],
  run: ['runs'],
  'run-or-workspace': ['runs', 'folders'],
  memory: ['memories'],
  id: ['memories'],
  old: ['memories'],
  new: ['memories'],
  repository: ['repositories'],
  key: ['keys'],
  service: ['services'],
}
/** Where the option says more than the name of its value. */
const sourcesByOption: Record<string, readonly Source[]> = {
  '--repository': ['repositories'],
  '--run': ['runs'],
  '--memory-id': ['memories'],
  // The first of several; commas come between.
  '--only': [{ words: SCALED_SERVICES }],
  // A new one.
  '--run-id': [],
}

export function shapeOf(command: Command, path: string[] = []): CommandShape {
  return {
    path,
    description: command.description(),
    commands: command.commands.map((each) => shapeOf(each, [...path, each.name()])),
    options: command.createHelp().visibleOptions(command).map(optionShape),
    args: command.registeredArguments.map((each) => argumentShape(command, each)),
  }
}

/** A command and all below it. */
export function withSubcommands(shape: CommandShape): CommandShape[] {
  return [shape, ...shape.commands.flatMap(withSubcommands)]
}

function optionShape(option: Option): OptionShape {
  const { long, short, description, argChoices } = option
  const value = option.required || option.optional ? valueName(option.flags) : null
  return {
    flags: [short, long].filter((flag) => flag != null),
    description,
    value,
    sources:
      value === null
        ? []
        : argChoices
          ? [{ words: argChoices }]
          : (sourcesByOption[long ?? ''] ?? sourcesByName[value] ?? []),
  }
}

function argumentShape(command: Command, argument: Argument): ArgumentShape {
  const name = argument.name()
  // `help` names commands, which the program itself knows.
  const words = command.parent?.commands.map((each) => each.name()) ?? []
  const sources = name === 'command' ? [{ words }] : (sourcesByName[name] ?? [])
  const { argChoices, required } = argument
  return { name, required, sources: argChoices ? [{ words: argChoices }] : sources }
}

/** `file` of `--json <file>`. */
function valueName(flags: string): string {
  return /[<[]([^>\]]+?)(?:\.\.\.)?[>\]]/.exec(flags)?.[1] ?? 'value'
}
