/** What the security middleware leaves for the pages in Hono's context. */
declare module 'hono' {
  interface ContextVariableMap {
    requestId: string
    /** Stands in every form of this session; a write without it is refused. */
    csrfToken: string
    /** False on the login page and wherever no login is needed. */
    signedIn: boolean
  }
}

export {}
