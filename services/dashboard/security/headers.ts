import type { MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'

const self = ["'self'"]
const none = ["'none'"]
const strict = {
  defaultSrc: none,
  scriptSrc: self,
  styleSrc: self,
  imgSrc: ["'self'", 'data:'],
  connectSrc: self,
  formAction: self,
  frameAncestors: none,
  baseUri: none,
}

/** With `no-referrer` browsers send `Origin: null` with our own forms. */
const others = {
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  // There is no TLS here, and a proxy with TLS decides for itself.
  strictTransportSecurity: false,
}

export const pageHeaders = secureHeaders({ ...others, contentSecurityPolicy: strict })

/** The page of bull-board has styles and a base address of its own. */
export const boardHeaders = secureHeaders({
  ...others,
  contentSecurityPolicy: {
    ...strict,
    styleSrc: ["'self'", "'unsafe-inline'"],
    fontSrc: self,
    baseUri: self,
  },
})

/** What a page shows is of this moment and for this person. Static files say otherwise themselves. */
export const notStored: MiddlewareHandler = async (c, next) => {
  await next()
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store')
}
