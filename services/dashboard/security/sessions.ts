import { randomBytes } from 'node:crypto'

export const SESSION_HOURS = 12
/** More than people have browsers; the oldest ends first. */
const MAX_SESSIONS = 200

export type Session = { id: string; csrfToken: string }

/** Who is logged in, in memory: a restart of the dashboard logs everybody out. */
export class Sessions {
  readonly #now: () => Date
  readonly #sessions = new Map<string, { csrfToken: string; ends: number }>()

  constructor(now: () => Date) {
    this.#now = now
  }

  begin(): Session {
    const oldest = this.#sessions.keys().next().value
    if (this.#sessions.size >= MAX_SESSIONS && oldest) this.#sessions.delete(oldest)
    const session = { id: randomId(), csrfToken: randomId() }
    const ends = this.#now().getTime() + SESSION_HOURS * 3_600_000
    this.#sessions.set(session.id, { csrfToken: session.csrfToken, ends })
    return session
  }

  find(id: string | undefined): Session | null {
    const found = id === undefined ? undefined : this.#sessions.get(id)
    if (id === undefined || !found) return null
    if (found.ends > this.#now().getTime()) return { id, csrfToken: found.csrfToken }
    this.#sessions.delete(id)
    return null
  }

  end(id: string): void {
    this.#sessions.delete(id)
  }
}

/** 256 bits, as text. */
export const randomId = () => randomBytes(32).toString('base64url')
