import { ANSWER_COMMAND } from './answer-command.ts'
import {
  type CommandShape,
  type OptionShape,
  type Source,
  withSubcommands,
} from './program-shape.ts'

/** A completion script for fish 3 or newer. */
export function fishScript(program: CommandShape): string {
  const commands = withSubcommands(program)
  const valued = commands
    .filter(({ args }) => args.length > 0)
    .flatMap(({ options }) => options.filter(({ value }) => value !== null))
    .flatMap(({ flags }) => flags)
  return `# fish completion for astra, printed by \`astra completion fish\`

# True where the words before the cursor are the command $argv[2..] with $argv[1] arguments, or 'any'.
function __astra_at
    set -l words (commandline -opc)
    set -e words[1]
    for each in $argv[2..]
        test "$words[1]" = "$each"; or return 1
        set -e words[1]
    end
    test $argv[1] = any; and return 0
    set -l count 0
    set -l skip 0
    for word in $words
        if test $skip = 1
            set skip 0
        else if contains -- $word ${[...new Set(valued)].join(' ')}
            set skip 1
        else if not string match -q -- '-*' $word
            set count (math $count + 1)
        end
    end
    test $count = $argv[1]
end

function __astra_asked
    set -l words (commandline -opc)
    $words[1] ${ANSWER_COMMAND} $argv[1] 2>/dev/null
end

complete -c astra -f
${commands.flatMap(commandLines).join('\n')}
`
}

function commandLines({ path, commands, options, args }: CommandShape): string[] {
  const at = (count: number | 'any') => quoted(['__astra_at', count, ...path].join(' '))
  return [
    ...commands.map(
      (each) =>
        `complete -c astra -n ${at(0)} -a ${each.path.at(-1)} -d ${quoted(each.description)}`,
    ),
    ...args.flatMap(({ sources }, index) =>
      sources.map((source) => `complete -c astra -n ${at(index)} ${sourceFlags(source, '')}`),
    ),
    ...options.flatMap((option) => optionLines(option, at('any'))),
  ]
}

function optionLines({ flags, description, value, sources }: OptionShape, at: string): string[] {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
  )
  const line = `complete -c astra -n ${at} ${names.join(' ')} -d ${quoted(description)}`
  if (value === null) return [line]
  if (sources.length === 0) return [`${line} -x`]
  return sources.map((source) => `${line} ${sourceFlags(source, '-x')}`)
}

/** `exclusive`: an option's value is needed, and is no file unless the source says so. */
function sourceFlags(source: Source, exclusive: '-x' | ''): string {
  const flags = exclusive === '' ? '' : '-x '
  if (source === 'files') return exclusive === '' ? '-F' : '-r -F'
  if (source === 'folders') return `${flags}-a '(__fish_complete_directories (commandline -ct))'`
  if (typeof source === 'string') return `${flags}-k -a '(__astra_asked ${source})'`
  return `${flags}-a ${quoted(source.words.join(' '))}`
}

/** In single quotes, where fish knows two signs: the quote and the backslash. */
const quoted = (text: string) => `'${text.replace(/['\\]/g, '\\$&')}'`
