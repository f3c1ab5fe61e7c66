import { sameText } from './csrf.ts'

/** Wrong tokens from one address within this time; then even the right one waits. */
const MAX_WRONG = 10
const WINDOW_MS = 5 * 60_000
const MAX_ADDRESSES = 1000

export type TokenAnswer = 'right' | 'wrong' | 'too_many'

/** Compares tokens, and counts the wrong ones by the address that they came from. */
export class TokenCheck {
  readonly #token: string
  readonly #now: () => Date
  readonly #wrong = new Map<string, { count: number; ends: number }>()

  constructor(token: string, now: () => Date) {
    this.#token = token
    this.#now = now
  }

  check(given: string, address: string): TokenAnswer {
    const now = this.#now().getTime()
    const before = this.#wrong.get(address)
    const counted = before && before.ends > now ? before : { count: 0, ends: now + WINDOW_MS }
    if (counted.count >= MAX_WRONG) return 'too_many'
    if (sameText(given, this.#token)) return 'right'
    const oldest = this.#wrong.keys().next().value
    if (this.#wrong.size >= MAX_ADDRESSES && oldest !== undefined) this.#wrong.delete(oldest)
    this.#wrong.set(address, { ...counted, count: counted.count + 1 })
    return 'wrong'
  }
}
