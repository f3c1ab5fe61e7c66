/** Words that carry digits in ordinary code. */
const NUMBERED_WORDS =
  /base(?:16|32|58|64)(?:url)?|sha-?\d+|utf-?(?:8|16|32)|latin-?1|iso-?\d+|(?:hs|rs|es|ps)\d{3}|ed25519|x25519|aes-?\d+|md5|u?int\d+|float\d+|oauth2?|http2?|ipv[46]|uuid\d?|bcrypt|argon2(?:id)?|v\d+/gi

/** What a text says where a secret will be put in, or what a test writes for one. */
const PLACEHOLDER =
  /^(?:\$[A-Za-z_]\w*$|%[a-z(%]|<.*>$|\{.*\}$|\[.*\]$|\*+$|process\.env|os\.environ|env[.([]|getenv|config[.[]|settings\.)|\$\{|\{\{|%\(|[*]{3}|x{4}|(?:^|[-_. ])(?:your|my|test|tests|testing|fake|dummy|example|sample|mock|placeholder|changeme|change|redacted|removed|invalid|wrong|expired|unknown|foo|bar|none|null|undefined)(?:$|[-_. \d])/i
const URL_OR_PATH =
  /^[a-z][a-z0-9+.-]{1,20}:\/\/|^(?:[~.]{0,2}\/|[A-Za-z]:\\)[\w .-]+(?:[/\\][\w .-]+)+$/i

/** Bits a character, after Shannon. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** How often letters become digits or digits letters: names do so once or twice, keys all the time. */
function numberEdges(text: string): number {
  return text.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0
}

const wordEdges = (text: string) => text.match(/[a-z](?=[A-Z])/g)?.length ?? 0
const lettersAndDigits = (text: string) => /[A-Za-z]/.test(text) && /\d/.test(text)
const bothCases = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text)

/** What a generator made, rather than a person: for values whose name does not say much. */
export function looksRandom(value: string, min: number): boolean {
  const plain = value.replace(NUMBERED_WORDS, '')
  if (plain.length < min || entropyOf(plain) < 2.8) return false
  const edges = numberEdges(plain)
  if (edges >= 2) return true
  // One of fifty random texts has hardly a digit, but its capitals stand anywhere.
  return bothCases(plain) && (edges + wordEdges(plain)) / plain.length >= 0.2
}

/** A value that stands where a password is expected and is more than a word of the language. */
export function looksSecret(value: string, min: number): boolean {
  if (value.length < min) return false
  const plain = value.replace(NUMBERED_WORDS, '')
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9\s._-]/].filter((each) => each.test(plain))
  const isMixed =
    plain.length >= Math.min(min, 8) && (lettersAndDigits(plain) || classes.length >= 3)
  return isMixed && !/\s/.test(value) && entropyOf(value) >= 2.3
}

/** What a program or a person puts in later, an address, or a path. */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value) || URL_OR_PATH.test(value)
}

/** A name of code: a type, a property of an object, a variable with a number. */
export function looksLikeCode(value: string): boolean {
  if (!/^[!~+-]?[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*$/.test(value)) return false
  return numberEdges(value.replace(NUMBERED_WORDS, '')) <= 2
}
