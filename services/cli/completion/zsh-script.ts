import { ANSWER_COMMAND } from './answer-command.ts'
import {
  type ArgumentShape,
  type CommandShape,
  type OptionShape,
  type Source,
  withSubcommands,
} from './program-shape.ts'

/** A completion script for zsh, to be sourced, or put into a folder of `fpath` as `_astra`. */
export function zshScript(program: CommandShape): string {
  return `#compdef astra
# zsh completion for astra, printed by \`astra completion zsh\`

_astra_asked() {
  local line
  local -a found
  for line in "\${(@f)$("$astra_program" ${ANSWER_COMMAND} $1 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -V $1 found
}

${withSubcommands(program).map(commandFunction).join('\n\n')}

_astra() {
  local astra_program=$words[1]
  _astra_main
}

if [[ $funcstack[1] == _astra ]]; then _astra; else compdef _astra astra astra.mjs; fi
`
}

const nameOf = (path: readonly string[]) =>
  ['_astra', ...(path.length > 0 ? path : ['main'])].join('_')

function commandFunction({ path, commands, options, args }: CommandShape): string {
  const specs = options.flatMap(optionSpecs)
  if (commands.length === 0) {
    return functionText(path, [argumentsCall([...specs, ...args.map(argumentSpec)])])
  }
  const rest = [
    'local line state',
    'local -a commands',
    `commands=(`,
    ...commands.map(
      (each) => `  ${quoted(`${each.path.at(-1)}:${each.description.replaceAll(':', '\\:')}`)}`,
    ),
    ')',
    argumentsCall([...specs, quoted('1:command:->command'), quoted('*:: :->rest')], '-C'),
    'case $state in',
    '  command) _describe command commands ;;',
    '  rest)',
    '    case $line[1] in',
    ...commands.map((each) => `      ${each.path.at(-1)}) ${nameOf(each.path)} ;;`),
    '    esac ;;',
    'esac',
  ]
  return functionText(path, rest)
}

function functionText(path: readonly string[], lines: readonly string[]): string {
  return `${nameOf(path)}() {\n${lines.join('\n').replace(/^/gm, '  ')}\n}`
}

function argumentsCall(specs: readonly string[], flags = ''): string {
  return ['_arguments', ...(flags ? [flags] : []), ...specs].join(' \\\n  ')
}

/** `-f` and `--follow` are one option: who has given one is not offered the other. */
function optionSpecs({ flags, description, value, sources }: OptionShape): string[] {
  const others = flags.length > 1 ? `(${flags.join(' ')})` : ''
  const about = `[${description.replace(/[[\]\\]/g, '\\$&')}]`
  const action = value === null ? '' : `:${value}:${actionOf(sources)}`
  return flags.map((flag) => {
    const joined = value !== null && flag.startsWith('--') ? '=' : ''
    return quoted(`${others}${flag}${joined}${about}${action}`)
  })
}

function argumentSpec({ name, required, sources }: ArgumentShape, index: number): string {
  return quoted(`${index + 1}:${required ? '' : ':'}${name}:${actionOf(sources)}`)
}

function actionOf(sources: readonly Source[]): string {
  const actions = sources.map((source) => {
    if (source === 'files') return '_files'
    if (source === 'folders') return '_files -/'
    // The space keeps zsh from putting options of its own before what is asked for.
    return typeof source === 'string' ? ` _astra_asked ${source}` : `(${source.words.join(' ')})`
  })
  const [first = ' ', ...others] = actions
  return others.length === 0 ? first : `{${actions.join('; ')}}`
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
