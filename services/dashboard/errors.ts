import type { Context, ErrorHandler, NotFoundHandler } from 'hono'
import { html } from 'hono/html'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { UnavailableError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/logger.ts'
import { isRedisFault } from '../../shared/queue/redis-fault.ts'
import { page } from './layout.ts'

/** A page that says what was wrong, with the id under which the log has the rest. */
export const errorPage =
  (log: Logger): ErrorHandler =>
  (error, c) => {
    const requestId = c.get('requestId')
    const { status, text, hint } = told(error)
    const at = { requestId, method: c.req.method, path: c.req.path, status }
    if (status >= 500) log.error({ ...at, err: error }, 'request failed')
    else log.info({ ...at, error: error.message }, 'request refused')
    return failure(c, status, text, hint)
  }

export const notFoundPage: NotFoundHandler = (c) =>
  failure(
    c,
    404,
    'There is no such page.',
    'The address may be mistyped, or what it named is gone.',
  )

type Told = { status: ContentfulStatusCode; text: string; hint: string }

function told(error: Error): Told {
  if (error instanceof HTTPException) {
    return {
      status: error.status as ContentfulStatusCode,
      text: `Refused: ${error.message}.`,
      hint: '',
    }
  }
  if (isRedisFault(error)) {
    return {
      status: 503,
      text: 'Redis does not answer.',
      hint: 'Is it running? astra doctor tells.',
    }
  }
  if (error instanceof UnavailableError) {
    return { status: 503, text: `${error.message}.`, hint: error.hint ?? '' }
  }
  return { status: 500, text: 'Something went wrong on this page.', hint: 'The log says what.' }
}

function failure(c: Context, status: ContentfulStatusCode, text: string, hint: string) {
  const title = status === 404 ? 'Not found' : status < 500 ? 'Refused' : 'Not available'
  const body = html`<h1>${title}</h1>
<p>${text} ${hint}</p>
<p class="muted">Request <code>${c.get('requestId') ?? ''}</code></p>
<p><a href="/">To the runs</a></p>`
  return page(c, { title, section: null, body, status })
}
