import { createHash } from 'node:crypto'
import { randomId } from './sessions.ts'

export const TICKET_MINUTES = 5
/** More than anybody asks for in that time; the oldest ends first. */
const MAX_TICKETS = 50

/**
 * What a link carries instead of the lasting token: each is good for one login, and soon for none.
 * They are in memory, and as hashes, so that nothing here can be used to log in.
 */
export class Tickets {
  readonly #now: () => Date
  /** By hash, when each ends. */
  readonly #open = new Map<string, number>()

  constructor(now: () => Date) {
    this.#now = now
  }

  issue(): string {
    const oldest = this.#open.keys().next().value
    if (this.#open.size >= MAX_TICKETS && oldest !== undefined) this.#open.delete(oldest)
    const ticket = randomId()
    this.#open.set(hashOf(ticket), this.#now().getTime() + TICKET_MINUTES * 60_000)
    return ticket
  }

  /** True once for each ticket, within its time. */
  use(ticket: string): boolean {
    const hash = hashOf(ticket)
    const ends = this.#open.get(hash)
    this.#open.delete(hash)
    return ends !== undefined && ends > this.#now().getTime()
  }
}

const hashOf = (ticket: string) => createHash('sha256').update(ticket).digest('base64url')
