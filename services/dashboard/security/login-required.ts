import { createHash } from 'node:crypto'
import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context, MiddlewareHandler } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { HTTPException } from 'hono/http-exception'
import { randomId, SESSION_HOURS, Sessions } from './sessions.ts'
import { Tickets } from './tickets.ts'
import { type TokenAnswer, TokenCheck } from './token-check.ts'

const cookieOptions = { httpOnly: true, sameSite: 'Strict', path: '/' } as const

/** Who may see pages, and how one becomes that. */
export type Login = {
  /** Lets nobody through who is not logged in, but to what is open to all. */
  required: MiddlewareHandler
  /** Begins a session where the token is right. */
  begin(c: Context, token: string): TokenAnswer
  /** A ticket for one login, for a link; null: nobody needs one. */
  issueTicket(): string | null
  /** Begins a session where the ticket is of ours, in time and unused. */
  beginByTicket(c: Context, ticket: string): boolean
  end(c: Context): void
}

const OPEN = /^\/(login|healthz|static\/.*)$/

export function createLogin(token: string | null, now: () => Date): Login {
  return token === null ? openToAll() : byToken(token, now)
}

/** `--no-auth`: one session for everybody; its token still keeps foreign pages from writing. */
function openToAll(): Login {
  const csrfToken = randomId()
  return {
    async required(c, next) {
      c.set('csrfToken', csrfToken)
      c.set('signedIn', false)
      await next()
    },
    begin: () => 'right',
    issueTicket: () => null,
    beginByTicket: () => true,
    end() {},
  }
}

function byToken(token: string, now: () => Date): Login {
  const sessions = new Sessions(now)
  const tokens = new TokenCheck(token, now)
  const tickets = new Tickets(now)
  // Cookies know no ports: two installations on one machine would log each other out.
  const cookie = `astra_${createHash('sha256').update(token).digest('hex').slice(0, 8)}`

  function bearer(c: Context): boolean {
    const [, given] = /^Bearer (\S+)$/.exec(c.req.header('authorization') ?? '') ?? []
    if (given === undefined) return false
    const answer = tokens.check(given, addressOf(c))
    if (answer === 'too_many') throw new HTTPException(429, { message: TOO_MANY })
    return answer === 'right'
  }

  function beginSession(c: Context): void {
    const { id } = sessions.begin()
    setCookie(c, cookie, id, { ...cookieOptions, maxAge: SESSION_HOURS * 3600 })
  }

  return {
    async required(c, next) {
      const session = sessions.find(getCookie(c, cookie))
      c.set('csrfToken', session?.csrfToken ?? '')
      c.set('signedIn', session !== null)
      if (session || OPEN.test(c.req.path)) return next()
      if (c.req.path === '/metrics') {
        if (bearer(c)) return next()
        return c.text('a session or `Authorization: Bearer TOKEN` is needed\n', 401, {
          'www-authenticate': 'Bearer',
        })
      }
      if (c.req.method === 'POST') {
        throw new HTTPException(403, { message: 'your session has ended: log in and try again' })
      }
      const { pathname, search } = new URL(c.req.url)
      return c.redirect(`/login?next=${encodeURIComponent(pathname + search)}`, 303)
    },
    begin(c, given) {
      const answer = tokens.check(given, addressOf(c))
      if (answer === 'right') beginSession(c)
      return answer
    },
    issueTicket: () => tickets.issue(),
    beginByTicket(c, ticket) {
      const isGood = tickets.use(ticket)
      if (isGood) beginSession(c)
      return isGood
    },
    end(c) {
      const id = getCookie(c, cookie)
      if (id !== undefined) sessions.end(id)
      deleteCookie(c, cookie, cookieOptions)
    },
  }
}

export const TOO_MANY = 'Too many wrong tokens: wait five minutes and try again'

const addressOf = (c: Context) => getConnInfo(c).remote.address ?? ''
