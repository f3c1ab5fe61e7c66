import type { Context } from 'hono'
import { html } from 'hono/html'
import { page } from '../layout.ts'
import { type Login, TOO_MANY } from '../security/login-required.ts'
import { TICKET_MINUTES } from '../security/tickets.ts'

/** GET /login: the form; with `?ticket=`, as in the link that the command line prints, the login itself. */
export const loginPage =
  (login: Login) =>
  (c: Context): Response | Promise<Response> => {
    const ticket = c.req.query('ticket')
    const next = ownPath(c.req.query('next'))
    // Whoever is logged in needs no ticket: a link that is opened again leads on.
    if (c.get('csrfToken')) return c.redirect(next, 303)
    if (ticket === undefined || c.req.method !== 'GET') return form(c, next)
    if (login.beginByTicket(c, ticket)) return c.redirect(next, 303)
    return form(c, next, { status: 401, message: SPENT_TICKET })
  }

/** POST /login */
export const postLogin = (login: Login) => async (c: Context) => {
  const { token, next } = await c.req.parseBody()
  const given = typeof token === 'string' ? token.trim() : ''
  return tryLogin(c, login, given, ownPath(typeof next === 'string' ? next : undefined))
}

/** POST /logout */
export const postLogout = (login: Login) => (c: Context) => {
  login.end(c)
  return c.redirect('/login', 303)
}

function tryLogin(c: Context, login: Login, token: string, next: string) {
  const answer = login.begin(c, token)
  if (answer === 'right') return c.redirect(next, 303)
  if (answer === 'too_many') {
    c.header('retry-after', '300')
    return form(c, next, { status: 429, message: TOO_MANY })
  }
  return form(c, next, { status: 401, message: 'This is not the token of this installation.' })
}

const SPENT_TICKET = `This link does not log in any more: it works once, and for ${TICKET_MINUTES} minutes. The token below still does.`

type Refusal = { status: 401 | 429; message: string }

function form(c: Context, next: string, refusal?: Refusal) {
  const body = html`<div class="login card">
<h1>Log in</h1>
${refusal ? html`<p class="notice bad" role="alert" id="refusal">${refusal.message}</p>` : ''}
<form method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus${refusal ? html` aria-invalid="true" aria-describedby="refusal"` : ''}>
<button>Log in</button>
</form>
<p class="muted hint">The token stands in <code>dashboard/token</code> below <code>ASTRA_HOME</code>. <code>astra dashboard</code> prints where that is when it starts, and a link that logs you in once.</p>
</div>`
  return page(c, { title: 'Log in', section: null, body, status: refusal?.status ?? 200 })
}

/** Only a path of this server: a login must not lead elsewhere. */
function ownPath(next: string | undefined): string {
  const base = 'http://dashboard.invalid'
  const url = URL.parse(next ?? '/', base)
  if (!url || url.origin !== base || url.pathname === '/login') return '/'
  return url.pathname.replace(/^\/+/, '/') + url.search
}
