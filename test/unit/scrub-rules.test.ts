import { describe, expect, it } from 'vitest'
import { createScrubber } from '../../shared/scrub/scrubber.ts'
import { fakeSecrets as fake, fakeCharacters, fakeKeyBlock } from '../support/fake-secrets.ts'

const scrub = createScrubber([])
const textOf = async (text: string) => (await scrub(text)).text

describe('a token is known by its form', () => {
  it.each([
    ['stripe', fake.stripe],
    ['stripe', fake.stripeRestricted],
    ['stripe', fake.stripePublic],
    ['google', fake.google],
    ['jwt', fake.jwt],
    ['aws', fake.awsId],
    ['aws', fake.awsSessionId],
    ['github', fake.github],
    ['github', fake.githubFine],
    ['gitlab', fake.gitlab],
    ['slack', fake.slack],
    ['npm', fake.npm],
    ['openai', fake.openai],
    ['openai', fake.openaiProject],
    ['anthropic', fake.anthropic],
    ['sendgrid', fake.sendgrid],
    ['hugging-face', fake.huggingFace],
    ['replicate', fake.replicate],
    ['nvidia', fake.nvidia],
    ['supabase', fake.supabase],
    ['atlassian', fake.atlassian],
    ['square', fake.square],
    ['databricks', fake.databricks],
  ])('%s, in every syntax that text comes in', async (rule, secret) => {
    const marker = `[removed: ${rule}]`
    for (const syntax of [
      (value: string) => `expected 401, got 200 with ${value} in the header`,
      (value: string) => `{"client": "${value}", "retries": 3}`,
      (value: string) => `client: ${value}\nretries: 3`,
      (value: string) => `CLIENT=${value}`,
      (value: string) => `export CLIENT='${value}'`,
      (value: string) => `client = connect("${value}", retries=3)`,
      (value: string) => `const client = connect(\`${value}\`, 3)`,
      (value: string) => `GET /v1/items?client=${value}&retries=3 HTTP/1.1`,
      (value: string) => `-  client: "${value}",\n+  client: readClient(),`,
      (value: string) => `{\\"client\\": \\"${value}\\"}`,
      (value: string) => value,
      (value: string) => `expected ${'Bearer'}:${value} to be sent`,
    ]) {
      const { text, removed } = await scrub(syntax(secret))
      expect(text).toBe(syntax(marker))
      expect(removed).toEqual([{ rule, count: 1 }])
    }
  })

  it.each([
    'sk_live_key is read from the environment',
    'pk_test_mode',
    'AIza is what such keys begin with',
    'eyJhbGciOi is how a token begins',
    'AKIA and 16 characters',
    'ghp_secret',
    'glpat-like-that',
    'xoxb-1 is no token',
    'npm_config_registry npm_lifecycle_event npm_package_version',
    'sk-fading-circle-and-other-spinners',
    'sk-learn-pipelines-for-text',
    'risk-based-approach-with-20-parts',
    'commit 4f2a9c1b7d3e8f6a5b0c9d8e7f6a5b4c3d2e1f0a',
    'sha512-hVDpqlBXwHq6tQr4YhX3E2uFjWq9hCVGt0bZz0VvUdUXSJZ2Q==',
    'class ASIAPacificRegionSettings',
    'disk_test_configuration and task-4f2a9c1b7d3e8f6a5b0c9d8e',
    'monkeyJumps_over_walls.and_other_things.of_this_kind',
  ])('what only resembles one stays: %s', async (text) => {
    expect(await scrub(text)).toEqual({ text, removed: [] })
  })

  it('takes the secret key that stands beside an AWS id', async () => {
    const text = await textOf(`user,id,key\nci,${fake.awsId},${fake.awsKey}\n`)
    expect(text).toBe('user,id,key\nci,[removed: aws],[removed: aws]\n')
  })
})

describe('credentials of a request', () => {
  const token = fakeCharacters(32)
  const basic = Buffer.from(`ada:${fake.password}`).toString('base64')
  it.each([
    [`Authorization: Bearer ${token}`, 'Authorization: Bearer [removed: bearer]'],
    [
      `headers={'Authorization': 'Bearer ${token}'}`,
      "headers={'Authorization': 'Bearer [removed: bearer]'}",
    ],
    [`authorization: Basic ${basic}`, 'authorization: Basic [removed: basic-auth]'],
    [`curl -u ada:${fake.password} http://a`, 'curl -u ada:[removed: basic-auth] http://a'],
    [`--user='ada:${fake.password}'`, "--user='ada:[removed: basic-auth]'"],
    [`"authorization": "${token}"`, '"authorization": "[removed: authorization]"'],
  ])('%s', async (text, expected) => {
    expect(await textOf(text)).toBe(expected)
  })

  it.each([
    'Bearer authentication is required',
    'expected "Bearer" but got "Basic"',
    'Bearer test-token-1',
    'Basic knowledge of SQL',
    'Basic realm="private"',
    'docker run -u 1000:1000 and --user node:node',
    'hf_hub_download, r8_uint, nvapi-like-names and dapi of a face',
    'authorization: required for all of /api/v2',
  ])('words stay: %s', async (text) => {
    expect(await textOf(text)).toBe(text)
  })
})

describe('passwords in addresses', () => {
  const hidden = '[removed: url-password]'
  const pw = ['p', 'w'].join('')
  it.each([
    [`redis://:${pw}@127.0.0.1:6379/0`, `redis://:${hidden}@127.0.0.1:6379/0`],
    [`postgres://user:${pw}@db:5432/app`, `postgres://user:${hidden}@db:5432/app`],
    [`postgresql+asyncpg://u:${pw}@db/app`, `postgresql+asyncpg://u:${hidden}@db/app`],
    [`mongodb+srv://u:${fake.password}@c.example.net`, `mongodb+srv://u:${hidden}@c.example.net`],
    [`https://ada:${pw}@example.com/x`, `https://ada:${hidden}@example.com/x`],
    [`amqp://u:a@b${pw}@host`, `amqp://u:${hidden}@host`],
    [`url = "mysql://u:${pw}@h/d"`, `url = "mysql://u:${hidden}@h/d"`],
    [`https://${fakeCharacters(24)}@github.com/a/b`, 'https://[removed: url-token]@github.com/a/b'],
  ])('%s', async (text, expected) => {
    expect(await textOf(text)).toBe(expected)
  })

  it.each([
    'http://localhost:3000/@vite/client',
    'http://[::1]:8080/',
    'postgres://db:5432/app',
    'git+ssh://git@github.com:owner/name.git',
    'https://git@github.com/owner/name',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program that puts it in
    'postgres://${user}:${password}@${host}/app',
    'redis://:<password>@host',
    'postgres://user:***@db/app',
    'docker://alpine:3.18@sha256:0a4eaa0eecf5f8c050e5bba433f58c052be7587ee8af3e8b3910ef9ab5fbe9f5',
    'npm:@scope/name@1.2.3 and mailto:ada@example.com',
    'expected "a://b" to equal "c:d@e"',
  ])('addresses without one stay: %s', async (text) => {
    expect(await textOf(text)).toBe(text)
  })
})

describe('private keys', () => {
  const kinds = [
    'PRIVATE KEY',
    'RSA PRIVATE KEY',
    'EC PRIVATE KEY',
    'OPENSSH PRIVATE KEY',
    'ENCRYPTED PRIVATE KEY',
    'PGP PRIVATE KEY BLOCK',
  ]
  it.each(kinds)('%s: as a file, in a diff, in a string, cut off at either end', async (kind) => {
    const block = fakeKeyBlock(kind)
    const lines = block.split('\n')
    const marker = '[removed: private-key]'
    expect(await textOf(`key:\n${block}\nafter`)).toBe(`key:\n${marker}\nafter`)
    expect(await textOf(lines.map((line) => `+${line}`).join('\n'))).toBe(`+${marker}`)
    expect(await textOf(`{"key": "${lines.join('\\n')}\\n"}`)).toBe(`{"key": "${marker}\\n"}`)
    const yaml = ['key: |', ...lines.map((line) => `  ${line}`), 'next: 1'].join('\n')
    expect(await textOf(yaml)).toBe(`key: |\n  ${marker}\nnext: 1`)
    expect(await textOf(`${lines.slice(0, 4).join('\n')}\n...\nok`)).toBe(`${marker}...\nok`)
    expect(await textOf(`...\n${lines.slice(3).join('\n')}\nok`)).toBe(`...\n${marker}\nok`)
  })

  it('what only names them, public keys and certificates stay', async () => {
    for (const text of [
      `if (!text.startsWith('-----BEGIN ${kinds[0]}-----')) throw new Error('no key')`,
      `expected -----BEGIN ${kinds[0]}----- at the start and -----END ${kinds[0]}----- at the end`,
      fakeKeyBlock('PUBLIC KEY'),
      fakeKeyBlock('CERTIFICATE'),
    ]) {
      expect(await textOf(text)).toBe(text)
    }
  })
})

describe('values of names like password', () => {
  const { password } = fake
  const plain = ['hunter', '2secret'].join('')
  const key = fakeCharacters(32)
  const marker = '[removed: assigned-secret]'
  it.each([
    ['env', (value: string) => `DB_PASSWORD=${value}\nDB_HOST=db`, plain],
    ['env with export and quotes', (value: string) => `export API_KEY="${value}"`, key],
    ['YAML', (value: string) => `db:\n  password: ${value}\n  host: db`, plain],
    ['YAML on the next line', (value: string) => `client_secret: >-\n    ${value}\nhost: db`, key],
    ['JSON', (value: string) => `{"password": "${value}", "host": "db"}`, password],
    ['JSON in a string', (value: string) => `"{\\"api_key\\":\\"${value}\\"}"`, key],
    ['TypeScript', (value: string) => `const clientSecret: string = '${value}'`, key],
    ['TypeScript object', (value: string) => `{ apiKey: '${value}', retries: 3 }`, key],
    ['Python', (value: string) => `SECRET_KEY = "${value}"`, key],
    ['Python arguments', (value: string) => `connect(host, password='${value}')`, password],
    [
      'Python over two lines',
      (value: string) => `PASSWORD = \\\n    "${value}"`.replace('\\\n', '\n'),
      password,
    ],
    ['Python bytes', (value: string) => `signing_key = b'${value}'`, key],
    ['Go', (value: string) => `password := "${value}"`, password],
    ['Ruby', (value: string) => `:password => "${value}"`, password],
    ['a query', (value: string) => `GET /login?user=ada&password=${value}&next=/`, plain],
    ['an argument', (value: string) => `psql --password ${value} --host db`, plain],
    ['a header', (value: string) => `X-Api-Key: ${value}`, key],
    ['XML', (value: string) => `<password>${value}</password>`, password],
    ['a diff', (value: string) => `-password = "x"\n+password = "${value}"`, password],
    ['a call', (value: string) => `env.set("API_TOKEN", "${value}")`, key],
  ])('%s', async (_title, syntax, secret) => {
    expect(await textOf(syntax(secret))).toBe(syntax(marker))
  })

  it.each([
    "expected password to be 'secret'",
    'password: string',
    'password: "must have 8 characters"',
    'token: "identifier", value: "password"',
    "Unexpected token '}' in JSON at position 12",
    'const token = response.data.token2',
    'secret = generate_secret(32)',
    'password = os.environ["DB_PASSWORD2"]',
    'apiKey: process.env.API_KEY_2',
    'key: Uint8Array; secret: Int32Array',
    'token_count = 1234567890',
    'tokens = 32000, max_tokens: 8000',
    'password_hash = sha256(password)',
    'access_key: <your access key 1>',
    'API_KEY=your-api-key-1234',
    'password=test-password-1',
    'secret: "{{ vault.secret1 }}"',
    'tokenizer = "bert-base-uncased-v2"',
    'TOKEN_URL=https://example.com/oauth2/token1',
    'PWD=/home/ada1/project2/x',
    "AssertionError: {'token': 'abc123'} != {'token': 'abc124'}",
    'keyboard = "qwerty12345"',
    'passwords differ: 3 of 12',
  ])('ordinary code and messages stay: %s', async (text) => {
    expect(await textOf(text)).toBe(text)
  })
})

describe('a secret that goes over the end of a line', () => {
  const { openaiProject: long, stripe } = fake
  it.each([
    ['in a narrow terminal', `${long.slice(0, 40)}\n${long.slice(40)}`],
    ['in a diff', `+${long.slice(0, 50)}\n+${long.slice(50)}`],
    ['in JavaScript', `"${long.slice(0, 30)}" +\n  "${long.slice(30)}"`],
    ['in Python', `("${stripe.slice(0, 12)}"\n    "${stripe.slice(12)}")`],
    ['in a shell', `${long.slice(0, 30)}\\\n${long.slice(30)}`],
  ])('%s', async (_title, text) => {
    const scrubbed = await textOf(text)
    expect(scrubbed).toContain('[removed: ')
    expect(scrubbed.replace(/\[removed: [a-z-]+\]/, '')).not.toMatch(/[A-Za-z0-9]{5}/)
  })

  it('ordinary text on the next line is no part of it', async () => {
    const text = await textOf(`key ${stripe}\nTypeError: value is undefined`)
    expect(text).toBe('key [removed: stripe]\nTypeError: value is undefined')
  })
})
