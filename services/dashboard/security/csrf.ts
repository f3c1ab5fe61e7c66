import { timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { html } from 'hono/html'
import { HTTPException } from 'hono/http-exception'

const FIELD = 'csrf'

/** The hidden field that every form of ours needs. */
export function csrfField(c: Context) {
  return html`<input type="hidden" name="${FIELD}" value="${c.get('csrfToken')}">`
}

/** Refuses a write whose form was not made by a page of this session. */
export const requireCsrfToken: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'POST') {
    const { [FIELD]: given } = await c.req.parseBody()
    if (typeof given !== 'string' || !sameText(given, c.get('csrfToken'))) {
      throw new HTTPException(403, {
        message: 'this form is out of date: load the page again and repeat what you did',
      })
    }
  }
  await next()
}

/** Compares in a time that says nothing of where two texts differ. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
