import type { Config } from '../config.ts'
import type { Finding } from './finding.ts'

/** Shorter ones would be found in ordinary words. */
const MIN_LENGTH = 8
const SECRET_SETTING = /KEY|TOKEN|SECRET|PASSWORD/

/** The secrets that the process was configured with: keys, and the passwords in addresses. */
export function secretsOf(config: Config): string[] {
  const secrets = Object.entries(config).flatMap(([name, value]) => {
    if (typeof value !== 'string') return []
    return SECRET_SETTING.test(name) ? [value] : passwordsIn(value)
  })
  return [...new Set(secrets)].filter((secret) => secret.length >= MIN_LENGTH)
}

function passwordsIn(value: string): string[] {
  const url = URL.canParse(value) ? new URL(value) : null
  if (!url || url.password === '') return []
  return [url.password, decoded(url.password)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A percent sign that encodes nothing stands for itself.
    return text
  }
}

/** The forms in which a secret may stand in a text: as it is, in an address, in JSON, in base64. */
export function formsOf(secret: string): string[] {
  const escaped = encodeURIComponent(secret)
  const lowerCase = escaped.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
  const forms = [secret, escaped, lowerCase, encodeURI(secret), JSON.stringify(secret).slice(1, -1)]
  return [...new Set([...forms, ...base64FormsOf(secret)])]
}

/** Three, as a secret may begin at any byte of a group of three; without what its neighbours decide. */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const start = shift === 0 ? 0 : shift + 1
    const isCut = (bytes.length + shift) % 3 !== 0
    const core = encoded.slice(start, isCut ? encoded.length - 1 : encoded.length)
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

export function findKnownSecrets(text: string, forms: readonly string[]): Finding[] {
  const found: Finding[] = []
  for (const form of forms) {
    let at = text.indexOf(form)
    while (at !== -1) {
      found.push({ start: at, end: at + form.length, rule: 'known-secret' })
      at = text.indexOf(form, at + form.length)
    }
  }
  return found
}
