import { ANSWER_COMMAND } from './answer-command.ts'
import { type CommandShape, type Source, withSubcommands } from './program-shape.ts'

/** A completion script for bash 3.2 or newer. */
export function bashScript(program: CommandShape): string {
  const commands = withSubcommands(program)
  return `# bash completion for astra, printed by \`astra completion bash\`
# Sets what may follow the command $1.
_astra_command() {
  case $1 in
${commands.map(commandCase).join('\n')}
  esac
}

# Sets what the value of the option $2 of the command $1 may be.
_astra_option() {
  sources=
  case "$1 $2" in
${commands.flatMap(optionCases).join('\n')}
  esac
}

_astra_add() {
  local found
  while IFS=$'\\t' read -r found _; do
    [[ -n $found && $found == "$cur"* ]] && COMPREPLY+=("$found")
  done
}

# Nothing that is read here is expanded: it may be a name that somebody else chose.
_astra_values() {
  local source
  for source in $1; do
    case $source in
      files) compopt -o filenames 2>/dev/null; _astra_add < <(compgen -f -- "$cur") ;;
      folders) compopt -o filenames 2>/dev/null; _astra_add < <(compgen -d -- "$cur") ;;
      =*) _astra_add < <(printf '%s\\n' "\${source#=}") ;;
      *) _astra_add < <("\${COMP_WORDS[0]}" ${ANSWER_COMMAND} "$source" 2>/dev/null) ;;
    esac
  done
}

_astra() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path= option= count=0 i word
  local commands options valued args sources
  COMPREPLY=()
  _astra_command ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == = ]]; then continue
    elif [[ -n $option ]]; then option=
    elif [[ " $valued " == *" $word "* ]]; then option=$word
    elif [[ $word == -* ]]; then continue
    elif ((count == 0)) && [[ " $commands " == *" $word "* ]]; then
      path="\${path:+$path }$word"
      _astra_command "$path"
    else count=$((count + 1))
    fi
  done
  [[ $cur == = ]] && cur=
  if [[ -n $option ]]; then
    _astra_option "$path" "$option"
    _astra_values "$sources"
  elif [[ $cur == -* ]]; then
    _astra_add < <(printf '%s\\n' $options)
  else
    _astra_add < <(printf '%s\\n' $commands)
    _astra_values "\${args[count]:-}"
  fi
}
complete -F _astra astra astra.mjs
`
}

function commandCase({ path, commands, options, args }: CommandShape): string {
  const flags = options.flatMap((each) => each.flags)
  const valued = options.filter(({ value }) => value !== null).flatMap((each) => each.flags)
  return [
    `    '${path.join(' ')}')`,
    `      commands='${commands.map((each) => each.path.at(-1)).join(' ')}'`,
    `      options='${flags.join(' ')}'`,
    `      valued='${valued.join(' ')}'`,
    `      args=(${args.map(({ sources }) => `'${sourceWords(sources)}'`).join(' ')}) ;;`,
  ].join('\n')
}

function optionCases({ path, options }: CommandShape): string[] {
  return options
    .filter(({ sources }) => sources.length > 0)
    .map(({ flags, sources }) => {
      const patterns = flags.map((flag) => `'${path.join(' ')} ${flag}'`).join(' | ')
      return `    ${patterns}) sources='${sourceWords(sources)}' ;;`
    })
}

/** A word as `=word`, anything else by its name. */
function sourceWords(sources: readonly Source[]): string {
  return sources
    .flatMap((each) => (typeof each === 'string' ? [each] : each.words.map((word) => `=${word}`)))
    .join(' ')
}
