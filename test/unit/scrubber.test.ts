import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../shared/config.ts'
import { secretsOf } from '../../shared/scrub/known-secrets.ts'
import { createScrubber, sumRemoved } from '../../shared/scrub/scrubber.ts'
import { fakeCharacters, fakeKeyBlock, fakeSecrets } from '../support/fake-secrets.ts'

const KNOWN = ['local', 'pass/word+', 'of this machine'].join('-')
const scrub = createScrubber([KNOWN])
const { github, stripe, password } = fakeSecrets
/** These are no part of the texts below. */
const OTHERS = [
  ['rk', 'live', fakeCharacters(41)].join('_'),
  ['gh', 'o_', fakeCharacters(37)].join(''),
  ['AI', 'za', fakeCharacters(36)].join(''),
]

/** Texts of secrets, of what stands around them, and of the markers that a scrubbed text has. */
const pieces = fc.constantFrom(
  ...Object.values(fakeSecrets),
  fakeKeyBlock('RSA PRIVATE KEY'),
  KNOWN,
  ...[
    'password',
    'token',
    'api_key',
    '"',
    "'",
    ' = ',
    ': ',
    '=',
    '\n',
    '\n+',
    ' ',
    '\\n',
    '@',
    '://',
    ':',
  ],
  ...[
    '[removed: stripe]',
    '[removed: ',
    ']',
    'redis',
    'Bearer ',
    '-----BEGIN PRIVATE KEY-----',
    '\ufeff',
  ],
  ...[
    '-----END PRIVATE KEY-----',
    '--',
    'a1B2c3D4',
    'é',
    '\ud83d\ude00',
    '_authToken=',
    'https://',
  ],
)
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 400 }),
)

describe('a scrubbed text', () => {
  it('is not changed by scrubbing it again, and is the same each time', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const first = await scrub(text)
        expect(await scrub(text)).toEqual(first)
        expect(await scrub(first.text)).toEqual({ text: first.text, removed: [] })
      }),
      { numRuns: 500 },
    )
  })

  it('holds none of the tokens that were in it, wherever they stood', async () => {
    const around = fc.constantFrom(
      '',
      'Bearer',
      'x',
      '9',
      ' ',
      '\n',
      '"',
      "'",
      '=',
      '/',
      '(',
      '\n+',
      '\n-',
      ',',
      '\t',
      '<',
    )
    await fc.assert(
      fc.asyncProperty(texts, around, around, texts, async (head, before, after, tail) => {
        for (const secret of OTHERS) {
          const { text } = await scrub(`${head}${before}${secret}${after}${tail}`)
          expect(text).not.toContain(secret)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('names each rule once with how often it found something', async () => {
    const { text, removed } = await scrub(`a ${github} b ${github} c redis://:${password}@host`)
    expect(text).toBe(
      'a [removed: github] b [removed: github] c redis://:[removed: url-password]@host',
    )
    expect(removed).toEqual([
      { rule: 'github', count: 2 },
      { rule: 'url-password', count: 1 },
    ])
    expect(sumRemoved(removed, [{ rule: 'github', count: 1 }], [])).toEqual([
      { rule: 'github', count: 3 },
      { rule: 'url-password', count: 1 },
    ])
  })
})

describe('a text cannot have itself passed over', () => {
  it.each([
    '/* secretlint-disable */',
    '// secretlint-disable-next-line',
    '<!-- secretlint-disable -->',
    '# secretlint-disable @secretlint/secretlint-rule-github, @secretlint/secretlint-rule-sendgrid',
  ])('%s', async (comment) => {
    for (const secret of [github, fakeSecrets.sendgrid]) {
      expect((await scrub(`${comment}\n${secret} ${comment}`)).text).not.toContain(secret)
    }
  })

  it('a byte order mark moves nothing', async () => {
    const { text } = await scrub(`\ufeff${fakeSecrets.sendgrid} tail`)
    expect(text).toBe('\ufeff[removed: sendgrid] tail')
  })

  it('a marker in the text hides nothing behind it', async () => {
    const { text } = await scrub(`[removed: github]${stripe}[removed: x`)
    expect(text).toBe('[removed: github][removed: stripe][removed: x')
  })
})

describe('a secret that the process knows', () => {
  it.each([
    ['as it is', KNOWN],
    ['in an address', encodeURIComponent(KNOWN)],
    [
      'in an address in lower case',
      encodeURIComponent(KNOWN).replace('%2F', '%2f').replace('%2B', '%2b'),
    ],
    ['in base64', Buffer.from(KNOWN).toString('base64')],
    ['in base64 behind a user', Buffer.from(`user:${KNOWN}`).toString('base64')],
    ['in base64 amid others', Buffer.from(`ab${KNOWN}cd`).toString('base64')],
    ['in base64 for addresses', Buffer.from(`x${KNOWN}`).toString('base64url')],
    ['over two lines', `${KNOWN.slice(0, 9)}\n${KNOWN.slice(9)}`],
    ['in two strings', `'${KNOWN.slice(0, 9)}' + '${KNOWN.slice(9)}'`],
  ])('is removed %s', async (_title, form) => {
    const { text, removed } = await scrub(`before ${form} after`)
    expect(removed).toEqual([{ rule: 'known-secret', count: 1 }])
    expect(text).toMatch(/^before .{0,8}\[removed: known-secret\].{0,8} after$/)
  })

  it('comes from the configuration: keys, and passwords in addresses', () => {
    const [key, redis] = [fakeCharacters(40), ['s3cret', 'p@ss'].join(' ')]
    const config = readConfig({
      ASTRA_HOME: '/nowhere',
      OPENAI_API_KEY: key,
      REDIS_URL: `redis://:${encodeURIComponent(redis)}@127.0.0.1:6379`,
      OPENAI_BASE_URL: `https://u:${password}@proxy.example.com/v1`,
    })
    expect(new Set(secretsOf(config))).toEqual(
      new Set([key, redis, encodeURIComponent(redis), password]),
    )
  })

  it('is not looked for when it is as short as a word', () => {
    expect(secretsOf(readConfig({ ASTRA_HOME: '/nowhere', OPENAI_API_KEY: 'ollama' }))).toEqual([])
  })
})

/** Of the processor: how busy the machine is does not count. */
function processorMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

describe('time', () => {
  it('a text of 4,000 characters takes less than 5 ms', async () => {
    const line = `  File "src/app.py", in load\n    config = read(path, token=${github.slice(0, 8)})\n`
    const text = line.repeat(50).slice(0, 4000)
    const times: number[] = []
    for (let round = 0; round < 101; round += 1) {
      const start = process.cpuUsage()
      await scrub(text)
      times.push(processorMs(start))
    }
    expect(times.sort((a, b) => a - b)[50]).toBeLessThan(5)
  })

  const repeated = [
    ...[
      ' ',
      '\n',
      '"',
      'a',
      '=',
      'A1',
      '\\n',
      '\t\n',
      'password',
      'password=',
      'password="',
      'secret: ',
    ],
    ...[
      'x://',
      'x://:',
      'http://a:',
      'http://a:b@',
      'redis://:p@h ',
      'mysql://a:b@c ',
      'ab://a:b/',
      'a://',
    ],
    ...[
      'eyJ',
      'eyJaaaaaaaa.',
      'eyJaaaaaaaaa.eyJaaaaaaaaa.',
      'sk-',
      'sk-proj-',
      'glpat-',
      'xoxb-',
      'xoxb-a-',
    ],
    ...[
      'ghs_1_',
      'SG.a.aa ',
      'AKIAABCDEFGHIJKLMNOP ',
      'ops_ey',
      'Bearer ',
      'Basic YTpi ',
      'authorization: ',
    ],
    ...[
      '-----BEGIN PRIVATE KEY-----',
      '-----END PRIVATE KEY-----',
      '-----BEGIN PRIVATE KEY-----\nAAAA\n',
    ],
    ...[
      'AAAAAAAAAAAAAAAAAAAA\n',
      '+AAAAAAAAAAAAAAAAAAAA+\n',
      '[removed: a]',
      '[removed: a]x',
      '[removed: ',
    ],
    ...[
      '"a" + ',
      '"a"\n',
      'a\n+b',
      `${github} `,
      `_authToken=${password}\n`,
      'token=a1b2c3d4e5f6g7 ',
      '{"',
    ],
    ...[
      'password password ',
      'password: string = ',
      'api_key>',
      '--password ',
      'account',
      'aws_account_id = ',
    ],
  ]
  it.each(repeated)('100,000 characters of %j end soon', async (part) => {
    const start = process.cpuUsage()
    await scrub(part.repeat(Math.ceil(100_000 / part.length)))
    expect(processorMs(start)).toBeLessThan(3000)
  })

  it('100,000 characters of whatever parts end soon', async () => {
    const hostile = fc
      .tuple(
        fc.array(fc.oneof(pieces, fc.constantFrom(...repeated)), { minLength: 1, maxLength: 6 }),
      )
      .map(([parts]) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(hostile, async (part) => {
        const start = process.cpuUsage()
        await scrub(part.repeat(Math.ceil(100_000 / part.length)).slice(0, 100_000))
        expect(processorMs(start)).toBeLessThan(3000)
      }),
      { numRuns: 40 },
    )
  })
})
