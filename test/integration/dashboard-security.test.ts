import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readToken } from '../../services/dashboard/security/token-file.ts'
import { startDashboardApp, TEST_TOKEN, type TestDashboard } from '../support/dashboard.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { failToStart } from '../support/service-process.ts'

let redis: TestRedis
let home: string
let dashboard: TestDashboard
let now = new Date('2026-03-01T08:00:00Z')
beforeAll(async () => {
  redis = await startRedis()
  home = await mkdtemp(join(tmpdir(), 'astra-dashboard-'))
  dashboard = await startDashboardApp(redis.address, home, { now: () => now })
})
afterAll(async () => {
  await dashboard.stop()
  await redis.stop()
  await rm(home, { recursive: true, force: true })
})

type Sent = { method?: string; headers?: Record<string, string>; body?: string; at?: TestDashboard }
type Answer = { status: number; headers: IncomingHttpHeaders; body: string }

/** A request with exactly these headers: `fetch` would not let a test choose Host or Origin. */
function send(path: string, { method = 'GET', headers = {}, body, at }: Sent = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const sent = request(`${(at ?? dashboard).url}${path}`, { method, headers }, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
    )
  })
  sent.on('error', reject)
  sent.end(body)
  return promise
}

/** As a browser sends a form of one of our pages. */
function form(fields: Record<string, string>, headers: Record<string, string> = {}): Sent {
  return {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: dashboard.url,
      'sec-fetch-site': 'same-origin',
      ...headers,
    },
  }
}

const ticketPath = () => dashboard.loginLink().slice(dashboard.url.length)

async function csrfOf(headers: Record<string, string>): Promise<string> {
  const { body } = await send('/fleet', { headers })
  return /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? ''
}

describe('who is let in', () => {
  it.each(['/fleet', '/queues', '/queues/api/queues', '/nowhere'])(
    '%s sends a stranger to the login, which leads back to it',
    async (path) => {
      const { status, headers } = await send(path)
      expect(status).toBe(303)
      expect(headers.location).toBe(`/login?next=${encodeURIComponent(path)}`)
    },
  )

  it('logs in by the link of a ticket, which leaves the address', async () => {
    const { status, headers } = await send(`${ticketPath()}&next=%2Ffleet%3Fa%3D1`)
    expect(status).toBe(303)
    expect(headers.location).toBe('/fleet?a=1')
    const [cookie = ''] = headers['set-cookie'] ?? []
    expect(cookie).toMatch(/; HttpOnly/)
    expect(cookie).toMatch(/; SameSite=Strict/)
    const session = cookie.split(';')[0] ?? ''
    expect((await send('/fleet', { headers: { cookie: session } })).status).toBe(200)
  })

  it('takes a ticket once, from whoever comes first', async () => {
    const link = ticketPath()
    expect((await send(link)).status).toBe(303)
    const { status, headers, body } = await send(link)
    expect([status, headers['set-cookie']]).toEqual([401, undefined])
    expect(body).toContain('This link does not log in any more')
    expect(body).toContain('name="token"')
  })

  it('leads on whoever opens the link again and is logged in', async () => {
    const link = ticketPath()
    const [cookie = ''] = (await send(link)).headers['set-cookie'] ?? []
    const again = await send(`${link}&next=%2Fcosts`, { headers: { cookie } })
    expect([again.status, again.headers.location]).toEqual([303, '/costs'])
  })

  it('takes a ticket for five minutes', async () => {
    const [early, late] = [ticketPath(), ticketPath()]
    const issued = now
    now = new Date(issued.getTime() + 5 * 60_000 - 1)
    expect((await send(early)).status).toBe(303)
    now = new Date(issued.getTime() + 5 * 60_000)
    expect((await send(late)).status).toBe(401)
  })

  it.each([`ticket=${TEST_TOKEN}`, 'ticket=', `ticket=${'x'.repeat(43)}`, `token=${TEST_TOKEN}`])(
    'lets nobody in by the address /login?%s',
    async (query) => {
      const { headers } = await send(`/login?${query}`)
      expect(headers['set-cookie']).toBeUndefined()
    },
  )

  it('asks a link only to look whether it is there without using it up', async () => {
    const link = ticketPath()
    expect((await send(link, { method: 'HEAD' })).status).toBe(200)
    expect((await send(link)).status).toBe(303)
  })

  it('logs in by the form, and shows pages to that session', async () => {
    const { status, headers } = await send('/login', form({ token: TEST_TOKEN, next: '/fleet' }))
    expect([status, headers.location]).toEqual([303, '/fleet'])
    const cookie = (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? ''
    expect((await send('/fleet', { headers: { cookie } })).status).toBe(200)
  })

  it.each(['//evil.example/x', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)'])(
    'leads nowhere else after a login: %s',
    async (next) => {
      const { headers } = await send('/login', form({ token: TEST_TOKEN, next }))
      expect(headers.location).toMatch(/^\/(?![/\\])/)
      expect(new URL(headers.location ?? '', dashboard.url).origin).toBe(dashboard.url)
    },
  )

  it('ends a session after twelve hours, and at the logout', async () => {
    const headers = await dashboard.logIn()
    const begun = now
    now = new Date(begun.getTime() + 12 * 3_600_000 - 1000)
    expect((await send('/fleet', { headers })).status).toBe(200)
    now = new Date(begun.getTime() + 12 * 3_600_000)
    expect((await send('/fleet', { headers })).status).toBe(303)

    const other = await dashboard.logIn()
    const csrf = await csrfOf(other)
    expect((await send('/logout', form({ csrf }, other))).status).toBe(303)
    expect((await send('/fleet', { headers: other })).status).toBe(303)
  })

  it('refuses even the right token after ten wrong ones, for five minutes', async () => {
    const own = await startDashboardApp(redis.address, home, { now: () => now })
    const attempt = (token: string) => ({ ...form({ token }, { origin: own.url }), at: own })
    try {
      for (let i = 0; i < 10; i += 1) {
        const { status, body } = await send('/login', attempt(`wrong-${i}`))
        expect(status).toBe(401)
        expect(body).toContain('This is not the token')
      }
      expect((await send('/login', attempt(TEST_TOKEN))).status).toBe(429)
      now = new Date(now.getTime() + 5 * 60_000)
      expect((await send('/login', attempt(TEST_TOKEN))).status).toBe(303)
    } finally {
      await own.stop()
    }
  })

  it('shows metrics to a bearer of the token, and health to everybody', async () => {
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
    expect((await send('/metrics', bearer(TEST_TOKEN))).status).toBe(200)
    expect((await send('/metrics', bearer('wrong'))).status).toBe(401)
    expect((await send('/metrics')).status).toBe(401)
    expect((await send('/fleet', bearer(TEST_TOKEN))).status).toBe(303)
    const { status, headers } = await send('/healthz')
    expect([200, 503]).toContain(status)
    expect(headers['content-type']).toContain('application/json')
  })
})

describe('what foreign pages can do', () => {
  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:80',

    'a@127.0.0.1',
  ])('does not answer to the host name "%s"', async (host) => {
    const { status, body } = await send('/login', { headers: { host } })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(body).not.toContain('<form')
  })

  it.each(['localhost:8377', '127.0.0.1', '[::1]:1'])('answers to %s', async (host) => {
    expect((await send('/login', { headers: { host } })).status).toBe(200)
  })

  it.each([
    ['another origin', { origin: 'http://evil.example' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['an origin that is none', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['the same site', { 'sec-fetch-site': 'same-site' }],
  ])('refuses a write from %s', async (_, headers) => {
    const mine = await dashboard.logIn()
    const csrf = await csrfOf(mine)
    const { status } = await send('/logout', form({ csrf }, { ...mine, ...headers }))
    expect(status).toBe(403)
    expect((await send('/fleet', { headers: mine })).status).toBe(200)
  })

  it('refuses a write that says nothing of where it comes from', async () => {
    const mine = await dashboard.logIn()
    const csrf = await csrfOf(mine)
    const { headers, ...rest } = form({ csrf }, mine)
    const { origin: _, 'sec-fetch-site': __, ...silent } = headers ?? {}
    expect((await send('/logout', { ...rest, headers: silent })).status).toBe(403)
  })

  it('refuses a form without the token of its session, or with another session’s', async () => {
    const mine = await dashboard.logIn()
    const other = await csrfOf(await dashboard.logIn())
    expect(other).not.toBe('')
    for (const csrf of ['', 'x', other]) {
      expect((await send('/logout', form({ csrf }, mine))).status).toBe(403)
    }
    expect((await send('/fleet', { headers: mine })).status).toBe(200)
  })

  it('lets a foreign page lead here, and load nothing from here', async () => {
    const mine = await dashboard.logIn()
    const from = { ...mine, 'sec-fetch-site': 'cross-site' }
    const led = await send('/fleet', { headers: { ...from, 'sec-fetch-mode': 'navigate' } })
    const loaded = await send('/fleet', { headers: { ...from, 'sec-fetch-mode': 'no-cors' } })
    expect([led.status, loaded.status]).toEqual([200, 403])
  })
})

describe('every answer', () => {
  it.each(['/login', '/fleet', '/nowhere', '/static/style.css', '/healthz'])(
    '%s has the strict policy',
    async (path) => {
      const { headers } = await send(path, { headers: await dashboard.logIn() })
      const policy = headers['content-security-policy'] ?? ''
      for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
        expect(policy).toContain(part)
      }
      expect(policy).not.toContain('unsafe')
      expect(headers['x-content-type-options']).toBe('nosniff')
    },
  )

  it('that is a page is kept by no cache, and static files by their content', async () => {
    const headers = await dashboard.logIn()
    const { body, headers: got } = await send('/fleet', { headers })
    expect(got['cache-control']).toBe('no-store')
    const style = /href="(\/static\/style\.css\?v=[^"]+)"/.exec(body)?.[1] ?? ''
    expect((await send(style)).headers['cache-control']).toContain('immutable')
    expect((await send('/static/..%2fapp.ts')).status).toBe(404)
  })

  it('refuses other methods than GET, HEAD and POST, and large forms', async () => {
    const headers = await dashboard.logIn()
    expect((await send('/fleet', { method: 'DELETE', headers })).status).toBe(405)
    expect((await send('/fleet', { method: 'HEAD', headers })).status).toBe(200)
    const large = form({ token: 'x'.repeat(100_000) }, headers)
    expect((await send('/login', large)).status).toBe(413)
  })

  it('that is an error names a request id and no code of ours', async () => {
    const headers = { ...(await dashboard.logIn()), 'x-request-id': 'planted' }
    const { status, body } = await send('/%00<script>', { headers })
    expect(status).toBe(404)
    expect(body).toMatch(/Request <code>[0-9a-f-]{36}<\/code>/)
    expect(body).not.toMatch(/planted|<script>|node_modules|\.ts:/)
  })
})

describe('without a login', () => {
  it('shows pages to everybody on this machine, and still needs the form’s token to write', async () => {
    const open = await startDashboardApp(redis.address, home, { token: null })
    try {
      expect((await send('/fleet', { at: open })).status).toBe(200)
      const sent = { ...form({ csrf: 'x' }, { origin: open.url }), at: open }
      expect((await send('/logout', sent)).status).toBe(403)
    } finally {
      await open.stop()
    }
  })
})

describe('the token file', () => {
  it('is made once, with 256 bits, for its owner alone', async () => {
    const token = await readToken(home)
    const file = join(home, 'dashboard', 'token')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    expect(await readToken(home)).toBe(token)
    expect((await readFile(file, 'utf8')).trim()).toBe(token)
  })

  it('is refused when what it holds could be guessed', async () => {
    await readToken(home)
    await writeFile(join(home, 'dashboard', 'token'), 'short\n')
    await expect(readToken(home)).rejects.toThrow(/holds no token/)
  })
})

describe('a start', () => {
  it('without a login is refused where other machines could reach it', async () => {
    const env = { ASTRA_DASHBOARD_HOST: '0.0.0.0', ASTRA_DASHBOARD_PORT: '0' }
    const { code, output } = await failToStart('dashboard', home, env, ['--no-auth'])
    expect(code).toBe(1)
    expect(output).toContain('--no-auth is for loopback addresses')
  })
})
