/** What a row of the store can be told apart by, beside its vectors. */
export type RowLabels = {
  live: boolean
  errorKey: string
  repository: string
  group: string
  confirmedMs: number
}

export type ScanFilter = {
  errorKey: string | null
  repository: string | null
  group: string | null
  notBeforeMs: number | null
}

/** A label that no row has. */
const NONE = -1
/** Takes every label. */
const ANY = -2

/** The labels of all rows by their place, names as numbers, so that looking at one costs nothing. */
export class LabelColumns {
  readonly #numbers = new Map<string, number>()
  #live = new Uint8Array(0)
  #errorKeys = new Int32Array(0)
  #repositories = new Int32Array(0)
  #groups = new Int32Array(0)
  #confirmed = new Float64Array(0)

  grow(capacity: number): void {
    this.#live = grown(this.#live, new Uint8Array(capacity))
    this.#errorKeys = grown(this.#errorKeys, new Int32Array(capacity))
    this.#repositories = grown(this.#repositories, new Int32Array(capacity))
    this.#groups = grown(this.#groups, new Int32Array(capacity))
    this.#confirmed = grown(this.#confirmed, new Float64Array(capacity))
  }

  set(slot: number, { live, errorKey, repository, group, confirmedMs }: RowLabels): void {
    this.#live[slot] = live ? 1 : 0
    this.#errorKeys[slot] = this.#number(errorKey)
    this.#repositories[slot] = this.#number(repository)
    this.#groups[slot] = this.#number(group)
    this.#confirmed[slot] = confirmedMs
  }

  clear(slot: number): void {
    this.#live[slot] = 0
  }

  /** Whether the row at a place is live and fits. */
  matcher({ errorKey, repository, group, notBeforeMs }: ScanFilter): (slot: number) => boolean {
    const wanted = (name: string | null) =>
      name === null ? ANY : (this.#numbers.get(name) ?? NONE)
    const [key, repositoryIs, groupIs] = [wanted(errorKey), wanted(repository), wanted(group)]
    return (slot) =>
      this.#live[slot] === 1 &&
      (key === ANY || this.#errorKeys[slot] === key) &&
      (repositoryIs === ANY || this.#repositories[slot] === repositoryIs) &&
      (groupIs === ANY || this.#groups[slot] === groupIs) &&
      (notBeforeMs === null || (this.#confirmed[slot] ?? 0) >= notBeforeMs)
  }

  #number(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#numbers.set(name, this.#numbers.size)
    return this.#numbers.size - 1
  }
}

export function grown<T extends Float64Array | Float32Array | Uint8Array | Int32Array>(
  old: T,
  next: T,
): T {
  next.set(old)
  return next
}
