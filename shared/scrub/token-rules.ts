import type { Finding } from './finding.ts'
import { looksRandom } from './looks-random.ts'

/**
 * Tokens that their form gives away. All lengths have an upper limit where a run of the same
 * characters could otherwise be read again from each of its places.
 */
type TokenRule = { rule: string; pattern: RegExp; accept?: (token: string) => boolean }

const random = (token: string) => looksRandom(token, 16)

const RULES: readonly TokenRule[] = [
  { rule: 'stripe', pattern: /(?<![A-Za-z0-9])(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,200}/g },
  { rule: 'stripe', pattern: /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{24,200}/g },
  { rule: 'google', pattern: /(?<![A-Za-z0-9])AIza[\w-]{30,60}/g },
  {
    rule: 'google',
    pattern: /(?<![A-Za-z0-9])(?:GOCSPX-[\w-]{20,60}|ya29\.[\w-]{20,400})/g,
    accept: random,
  },
  { rule: 'anthropic', pattern: /(?<![A-Za-z0-9])sk-ant-[\w-]{20,300}/g, accept: random },
  {
    rule: 'openai',
    pattern: /(?<![A-Za-z0-9-])sk-(?:(?:proj|svcacct|admin|None)-)?[\w-]{20,300}/g,
    accept: random,
  },
  {
    rule: 'github',
    pattern: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{22,255})/g,
  },
  {
    rule: 'gitlab',
    pattern: /(?<![A-Za-z0-9])gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas)-[\w.-]{20,300}/g,
    accept: random,
  },
  {
    rule: 'slack',
    pattern: /(?<![A-Za-z0-9])(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,255}/g,
    accept: (token) => /\d/.test(token),
  },
  { rule: 'slack', pattern: /hooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9/_]{20,200}/g },
  { rule: 'npm', pattern: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g },
  { rule: 'pypi', pattern: /(?<![A-Za-z0-9])pypi-[\w-]{50,300}/g },
  { rule: 'digitalocean', pattern: /(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}/g },
  { rule: 'age', pattern: /(?<![A-Za-z0-9])AGE-SECRET-KEY-1[A-Z0-9]{50,70}/g },
  { rule: 'telegram', pattern: /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{32,34}(?![\w-])/g },
  {
    rule: 'aws',
    pattern:
      /(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  },
  {
    rule: 'jwt',
    pattern: /(?<![A-Za-z0-9])ey[JA][\w-]{8,500}\.[\w-]{8,4000}(?:\.[\w-]{0,2000}){1,3}/g,
  },
]

/** A secret key has no form of its own, but it stands beside the id that it belongs to. */
const AWS_PAIR =
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])[\s\S]{1,120}?(?<![A-Za-z0-9/+])(?<key>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/dg

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
