import { type Finding, valuesOf } from './finding.ts'
import { looksRandom } from './looks-random.ts'

/** `scheme://user:password@`, `scheme://:password@`, `scheme://token@`. */
const USER_AND_PASSWORD =
  /[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/[^\s:@/"'`<>\\]{0,100}:(?<value>[^\s/"'`<>\\]{1,200})@(?!sha\d+:)(?=[^\s"'])/dg
const PASSWORD_ALONE =
  /[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/:(?<value>[^\s"'`<>\\@]{1,200})@(?=[^\s"'])/dg
const TOKEN_ALONE =
  /[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/(?<value>[A-Za-z0-9_-]{16,200})@(?=[A-Za-z0-9])/dg

/** Where a program or a person puts the password in, there is none yet. */
const VARIABLE = /^[*x.]+$|^\$|\$\{|\{\{|^\{.*\}$|^\[.*\]$|^%[a-z(]/i

/** Passwords in addresses, however short. The rest of an address is no secret and stays. */
export function findUrlCredentials(text: string): Finding[] {
  const isWritten = (value: string) => !VARIABLE.test(value)
  return [
    ...valuesOf(text, USER_AND_PASSWORD, 'url-password', isWritten),
    ...valuesOf(text, PASSWORD_ALONE, 'url-password', isWritten),
    ...valuesOf(text, TOKEN_ALONE, 'url-token', (value) => looksRandom(value, 16)),
  ]
}
