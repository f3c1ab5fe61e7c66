/** Secrets that nobody has, put together when a test runs: no file of the project holds one whole. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The same characters each time, with digits and letters in turn as a generator makes them. */
export function fakeCharacters(length: number, alphabet = LETTERS): string {
  let state = length + 7
  let text = ''
  for (let index = 0; index < length; index += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    text += alphabet[(state >> 8) % alphabet.length]
  }
  return text
}

const capitals = (length: number) => fakeCharacters(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')
const base64Url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

export const fakeSecrets = {
  stripe: ['sk', 'live', fakeCharacters(24)].join('_'),
  stripeRestricted: ['rk', 'live', fakeCharacters(30)].join('_'),
  stripePublic: ['pk', 'live', fakeCharacters(24)].join('_'),
  google: ['AI', 'za', fakeCharacters(35)].join(''),
  jwt: [
    base64Url({ alg: 'HS256', typ: 'JWT' }),
    base64Url({ sub: '1234567890', name: 'Ada' }),
    fakeCharacters(43),
  ].join('.'),
  awsId: ['AK', 'IA', capitals(16)].join(''),
  awsSessionId: ['AS', 'IA', capitals(16)].join(''),
  awsKey: `${fakeCharacters(20)}/${fakeCharacters(19)}`,
  github: ['gh', 'p_', fakeCharacters(36)].join(''),
  githubFine: ['github', 'pat', fakeCharacters(22), fakeCharacters(59)].join('_'),
  gitlab: ['gl', 'pat-', fakeCharacters(20)].join(''),
  slack: ['xo', 'xb-', '123456789012-', fakeCharacters(24)].join(''),
  npm: ['np', 'm_', fakeCharacters(36)].join(''),
  openai: ['s', 'k-', fakeCharacters(48)].join(''),
  openaiProject: ['s', 'k-', 'proj-', fakeCharacters(90)].join(''),
  anthropic: ['s', 'k-', 'ant-api03-', fakeCharacters(93), 'AA'].join(''),
  huggingFace: ['hf', fakeCharacters(34)].join('_'),
  replicate: ['r8', fakeCharacters(37)].join('_'),
  nvidia: ['nv', 'api-', fakeCharacters(64)].join(''),
  supabase: ['sb', 'p_', fakeCharacters(40, '0123456789abcdef')].join(''),
  atlassian: ['ATA', 'TT3x', fakeCharacters(60)].join(''),
  square: ['sq0', 'csp-', fakeCharacters(43)].join(''),
  databricks: ['da', 'pi', fakeCharacters(32, '0123456789abcdef')].join(''),
  sendgrid: ['S', 'G.', fakeCharacters(22), '.', fakeCharacters(43)].join(''),
  password: ['tr0ub4', 'dor', '&3'].join(''),
}

/** A block as `openssl` and `ssh-keygen` write it, but of random bytes. */
export function fakeKeyBlock(kind: string): string {
  const lines = Array.from({ length: 6 }, (_, index) => `MI${fakeCharacters(62 - index)}`)
  const edge = (word: string) => `-----${word} ${kind}-----`
  return [edge('BEGIN'), ...lines, `${fakeCharacters(10)}==`, edge('END')].join('\n')
}
