import type { Finding } from './finding.ts'
import { looksRandom } from './looks-random.ts'

/**
 * Tokens that their form gives away, also where a program forgot what belongs between them and the
 * word before. All lengths have an upper limit where a run of the same
 * characters could otherwise be read again from each of its places.
 */
type TokenRule = { rule: string; pattern: RegExp; accept?: (token: string) => boolean }

const random = (token: string) => looksRandom(token, 16)

/** The header of a token is an object in JSON; `monkeyJumps.to.there` is none. */
function isJwt(token: string): boolean {
  const [header = ''] = token.split('.')
  return /^\{\s*"[\x20-\x7e]+"\s*:/.test(Buffer.from(header, 'base64url').toString('latin1'))
}

const RULES: readonly TokenRule[] = [
  { rule: 'stripe', pattern: /(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,200}/g, accept: random },
  { rule: 'stripe', pattern: /whsec_[A-Za-z0-9+/=]{24,200}/g },
  { rule: 'google', pattern: /AIza[\w-]{30,60}/g },
  {
    rule: 'google',
    pattern: /(?:GOCSPX-[\w-]{20,60}|ya29\.[\w-]{20,400})/g,
    accept: random,
  },
  { rule: 'anthropic', pattern: /sk-ant-[\w-]{20,300}/g, accept: random },
  {
    rule: 'openai',
    // `task-` and `risk-` end like it.
    pattern: /(?:(?<![A-Za-z0-9-])sk-|sk-(?:proj|svcacct|admin|None)-)[\w-]{20,300}/g,
    accept: random,
  },
  {
    rule: 'github',
    pattern: /(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{22,255})/g,
    accept: random,
  },
  {
    rule: 'gitlab',
    pattern: /gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas)-[\w.-]{20,300}/g,
    accept: random,
  },
  {
    rule: 'slack',
    pattern: /(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,255}/g,
    accept: (token) => /\d/.test(token),
  },
  { rule: 'slack', pattern: /hooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9/_]{20,200}/g },
  { rule: 'npm', pattern: /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g },
  { rule: 'pypi', pattern: /pypi-[\w-]{50,300}/g },
  { rule: 'digitalocean', pattern: /do[opr]_v1_[0-9a-f]{64}/g },
  { rule: 'hugging-face', pattern: /hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])/g },
  { rule: 'replicate', pattern: /r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])/g },
  { rule: 'nvidia', pattern: /nvapi-[\w-]{60,80}/g, accept: random },
  { rule: 'supabase', pattern: /sbp_[0-9a-f]{40}(?![0-9a-f])/g },
  { rule: 'atlassian', pattern: /ATATT3x[\w=-]{50,250}/g, accept: random },
  { rule: 'square', pattern: /sq0(?:csp|atp|idp)-[\w-]{22,43}/g, accept: random },
  { rule: 'databricks', pattern: /dapi[0-9a-f]{32}(?![0-9a-f])/g },
  { rule: 'age', pattern: /AGE-SECRET-KEY-1[A-Z0-9]{50,70}/g },
  { rule: 'telegram', pattern: /(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])/g },
  {
    rule: 'aws',
    pattern:
      /(?<![A-Z0-9])(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  },
  {
    rule: 'jwt',
    pattern: /ey[JA][\w-]{8,500}\.[\w-]{8,4000}(?:\.[\w-]{0,2000}){1,3}/g,
    accept: isJwt,
  },
]

/** A secret key has no form of its own, but it stands beside the id that it belongs to. */
const AWS_PAIR =
  /(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])[\s\S]{1,120}?(?<![A-Za-z0-9/+])(?<key>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/dg

export function findTokens(text: string): Finding[] {
  const found = RULES.flatMap(({ rule, pattern, accept }) =>
    [...text.matchAll(pattern)]
      .filter(([token]) => accept === undefined || accept(token))
      .map((match) => ({ start: match.index, end: match.index + match[0].length, rule })),
  )
  for (const match of text.matchAll(AWS_PAIR)) {
    const [start, end] = match.indices?.groups?.key ?? [0, 0]
    const key = text.slice(start, end)
    // A commit's hash has neither capitals nor a place here.
    if (/[a-z]/.test(key) && /[A-Z]/.test(key)) found.push({ start, end, rule: 'aws' })
  }
  return found
}
