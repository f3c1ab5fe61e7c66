import { type Finding, valuesOf } from './finding.ts'
import { isPlaceholder, looksRandom, looksSecret } from './looks-random.ts'

const BEARER = /Bearer(?:\s|%20|\+){1,4}(?<value>[A-Za-z0-9._~+/=-]{8,4000})/dgi
const BASIC = /\bBasic(?:\s|%20){1,4}(?<value>[A-Za-z0-9+/=_-]{8,2000})/dg
const AUTHORIZATION =
  /authorization\\{0,2}["'`]?\s{0,5}[:=,]\s{0,5}\\{0,2}["'`]?(?:token |apikey |key )?(?<value>[A-Za-z0-9._~+/=-]{16,4000})/dgi

/** As curl takes them: `-u name:password`. */
const USER = /(?<![\w-])(?:-u|--user)[ =]{1,2}["'`]?[\w.@+-]{1,64}:(?<value>[^\s"'`:]{6,200})/dg

/** `Bearer TOKEN` and `Basic CREDENTIALS` wherever they stand, and other values of an Authorization. */
export function findHeaderCredentials(text: string): Finding[] {
  return [
    ...valuesOf(text, BEARER, 'bearer', (value) => isToken(value, 10)),
    ...valuesOf(text, BASIC, 'basic-auth', isUserAndPassword),
    ...valuesOf(
      text,
      USER,
      'basic-auth',
      (value) => looksSecret(value, 6) && !isPlaceholder(value),
    ),
    ...valuesOf(text, AUTHORIZATION, 'authorization', (value) => isToken(value, 16)),
  ]
}

const isToken = (value: string, min: number) => looksRandom(value, min) && !isPlaceholder(value)

/** `Basic` is a word as well: credentials are `user:password` in base64. */
function isUserAndPassword(value: string): boolean {
  const decoded = Buffer.from(value, 'base64').toString('latin1')
  return /^[\x20-\x7e]+:[\x20-\x7e]+$/.test(decoded)
}
