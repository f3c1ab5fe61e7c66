/** The rows with the highest scores, at most `size` of them: a heap whose root is the lowest. */
export class TopRows {
  readonly #size: number
  readonly #rows: number[] = []
  readonly #scores: number[] = []

  constructor(size: number) {
    this.#size = size
  }

  /** What a score has to exceed to be taken. */
  get floor(): number {
    return this.#rows.length < this.#size ? Number.NEGATIVE_INFINITY : (this.#scores[0] ?? 0)
  }

  add(row: number, score: number): void {
    if (this.#rows.length < this.#size) {
      this.#rows.push(row)
      this.#scores.push(score)
      this.#up(this.#rows.length - 1)
    } else if (score > this.floor) {
      this.#rows[0] = row
      this.#scores[0] = score
      this.#down()
    }
  }

  rows(): number[] {
    return [...this.#rows]
  }

  #up(start: number): void {
    for (let at = start; at > 0; ) {
      const parent = (at - 1) >> 1
      if (this.#score(parent) <= this.#score(at)) return
      this.#swap(parent, at)
      at = parent
    }
  }

  #down(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      const right = left + 1
      const child = this.#score(right) < this.#score(left) ? right : left
      if (this.#score(at) <= this.#score(child)) return
      this.#swap(at, child)
      at = child
    }
  }

  #score(at: number): number {
    return this.#scores[at] ?? Number.POSITIVE_INFINITY
  }

  #swap(a: number, b: number): void {
    const [row, score] = [this.#rows[a], this.#scores[a]]
    this.#rows[a] = this.#rows[b] ?? 0
    this.#scores[a] = this.#scores[b] ?? 0
    this.#rows[b] = row ?? 0
    this.#scores[b] = score ?? 0
  }
}
