import { isIP } from 'node:net'
import type { MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'

/** Every address of this machine, or every machine: pages are then asked for by any of its addresses. */
const WILDCARDS = new Set(['0.0.0.0', '::'])

export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}

/**
 * Lets a request through that names this server by an address or a name it has. Another name that
 * leads here is how a foreign page would read ours (DNS rebinding).
 */
export function requireOwnHost(configured: string): MiddlewareHandler {
  return async (c, next) => {
    const host = hostName(c.req.header('host') ?? '')
    const own = isLoopback(host) || host === configured.toLowerCase()
    if (!own && !(WILDCARDS.has(configured) && isIP(host) !== 0)) {
      throw new HTTPException(421, { message: 'this server does not answer to that host name' })
    }
    await next()
  }
}

/** The host of a Host header without its port, or '' where it is none. */
function hostName(header: string): string {
  const url = URL.parse(`http://${header}`)
  if (url?.pathname !== '/' || url.username !== '' || url.search !== '') return ''
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

/**
 * Refuses writes that no page of ours sent, and what another site's page fetches without being
 * navigated to. Browsers say both by themselves.
 */
export const requireOwnOrigin: MiddlewareHandler = async (c, next) => {
  const site = c.req.header('sec-fetch-site')
  const origin = c.req.header('origin')
  const foreign = site !== undefined && site !== 'same-origin' && site !== 'none'
  const isWrite = c.req.method === 'POST'
  const isNavigation = !isWrite && c.req.header('sec-fetch-mode') === 'navigate'
  if (foreign && !isNavigation) throw refused()
  if (isWrite) {
    if (origin === undefined && site !== 'same-origin') throw refused()
    if (origin !== undefined && URL.parse(origin)?.host !== c.req.header('host')) throw refused()
  }
  await next()
}

const refused = () =>
  new HTTPException(403, { message: 'this request did not come from a page of the dashboard' })
