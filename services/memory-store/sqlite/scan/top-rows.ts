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

  /** Rows come in ascending order: of equal scores the first ones are kept. */
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

  /** Best first, the first row first of equal ones. */
  sorted(): { row: number; score: number }[] {
    return this.#rows
      .map((row, at) => ({ row, score: this.#scores[at] ?? 0 }))
      .sort((a, b) => b.score - a.score || a.row - b.row)
  }

  #up(start: number): void {
    for (let at = start; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!this.#isBelow(at, parent)) return
      this.#swap(parent, at)
      at = parent
    }
  }

  #down(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      const right = left + 1
      const child = right < this.#rows.length && this.#isBelow(right, left) ? right : left
      if (child >= this.#rows.length || !this.#isBelow(child, at)) return
      this.#swap(at, child)
      at = child
    }
  }

  #isBelow(a: number, b: number): boolean {
    const [score, other] = [this.#scores[a] ?? 0, this.#scores[b] ?? 0]
    return score < other || (score === other && (this.#rows[a] ?? 0) > (this.#rows[b] ?? 0))
  }

  #swap(a: number, b: number): void {
    const [row, score] = [this.#rows[a], this.#scores[a]]
    this.#rows[a] = this.#rows[b] ?? 0
    this.#scores[a] = this.#scores[b] ?? 0
    this.#rows[b] = row ?? 0
    this.#scores[b] = score ?? 0
  }
}
