import { type Finding, valuesOf } from './finding.ts'
import { isPlaceholder, looksLikeCode, looksRandom, looksSecret } from './looks-random.ts'

/** The last words of a name whose value is a secret: `DB_PASSWORD`, `clientSecret`, `x-api-key`. */
const NAME =
  '(?<name>passw(?:or)?d|passphrase|pwd|secret(?:[_-]?(?:access)?[_-]?key(?:[_-]?base)?)?|token|(?:api|access|private|signing|encryption|account|auth|master|shared|session)[_-]?key|credentials?)'
const QUOTE = '\\\\{0,2}["\'`]'
/** A diff marks the line that a value goes on in. */
const NEXT_LINE = '(?:[ \\t]{0,40}\\r?\\n[+ -]?[ \\t]{0,40})?'
/** `=`, `:=`, `=>`, `:`, and a type in between: `password: string = "..."`. */
const ASSIGNED = `(?:${QUOTE})?\\]?[ \\t]{0,20}(?::[ \\t]{0,5}[\\w<>[\\]|. ]{1,30}=|:=|=>|[=:]|,(?=[ \\t]{0,5}["'\`]))`

const QUOTED = new RegExp(
  `${NAME}${ASSIGNED}[ \\t]{0,20}${NEXT_LINE}(?:[bruf]{1,2})?(?<quote>${QUOTE})(?<value>[^"'\`\\r\\n\\\\]{6,400})\\k<quote>`,
  'dgi',
)
/** In `.env`, YAML, a query, a form, an argument of a program, or code that names a variable. */
const UNQUOTED = new RegExp(
  `${NAME}(?<sign>(?:${QUOTE})?[ \\t]{0,20}(?::=|=>|[=:])[ \\t]{0,20}(?:[|>][+-]?[ \\t]{0,20}\\r?\\n[+ -]?[ \\t]{1,40})?| {1,3}(?=[^ ]{8}))(?<value>[^\\s"'\`,;&<>(){}[\\]\\\\]{8,400})(?<after>.?)`,
  'dgi',
)
const ELEMENT = new RegExp(`${NAME}>(?<value>[^<>\\s]{6,400})</`, 'dgi')

const isPassword = (name: string) => /^(?:pass|pwd)/i.test(name)

/** Values that are assigned to a name like `password`, as far as they are no words or code. */
export function findAssignedSecrets(text: string): Finding[] {
  return [
    ...valuesOf(text, QUOTED, 'assigned-secret', isQuotedSecret),
    ...valuesOf(text, UNQUOTED, 'assigned-secret', isUnquotedSecret),
    ...valuesOf(text, ELEMENT, 'assigned-secret', isQuotedSecret),
  ]
}

/** `token` is a word of parsers as well: its value must look generated. */
function isQuotedSecret(value: string, match: RegExpExecArray): boolean {
  const name = match.groups?.name ?? ''
  if (isPlaceholder(value)) return false
  if (/^(?:token|credential)/i.test(name)) return looksRandom(value, 12)
  return looksSecret(value, isPassword(name) ? 6 : 8)
}

function isUnquotedSecret(value: string, match: RegExpExecArray): boolean {
  const { name = '', sign = '', after = '' } = match.groups ?? {}
  // `generate(`, `keys[`: what is assigned is what comes of it.
  if (after === '(' || after === '[' || isPlaceholder(value)) return false
  const isLiteral = isLiteralPlace(match)
  // A space alone says nothing but behind `--password`.
  if (!isLiteral && (/^ +$/.test(sign) || looksLikeCode(value))) return false
  if (/^(?:token|credential)/i.test(name)) return looksRandom(value, 12)
  return looksSecret(value, 8)
}

/** Where no program's names stand: an argument, a query, a line of `.env`, a line of YAML. */
function isLiteralPlace(match: RegExpExecArray): boolean {
  const { name = '', sign = '', value = '', after = '' } = match.groups ?? {}
  const before = match.input.slice(Math.max(0, match.index - 100), match.index)
  if (/--[a-z-]{0,40}$/i.test(before)) return true
  if (sign === '=' && /[?&][\w.-]{0,40}$/.test(before)) return true
  const line = /(?:^|\n)([^\n]*)$/.exec(before)?.[1] ?? ''
  if (sign === '=' && /^[+\s-]*(?:export\s+)?[A-Z\d_]*$/.test(line)) {
    return name === name.toUpperCase() && /^\s?$/.test(after)
  }
  // A type begins with a capital: `secret: Uint8Array`.
  const isYaml = /^:\s/.test(sign) && after === '' && /^[+\s-]*[\w.-]*$/.test(line)
  return isYaml && !/^[A-Z]/.test(value)
}
