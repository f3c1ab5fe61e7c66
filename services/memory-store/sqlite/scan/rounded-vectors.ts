import { createKernel, growTo, type Kernel } from './kernel.ts'

/** Rows whose cosines are made at one go: about a millisecond for two queries. */
export const SLICE_ROWS = 8_192
/** Standard deviations that rounding is taken to move a cosine by: beyond that, once in millions. */
const DEVIATIONS = 5
/** Components are taken in steps of this many. */
const STEP = 32
/** Behind a vector's components: what one of them is worth. */
const WORTH_BYTES = 16

/** Two vectors a row, 8 bits a component, by the row's place. */
export class RoundedVectors {
  readonly #kernel: Kernel = createKernel()
  readonly #length: number
  /** The query stands at the beginning, the cosines behind it, then the rows. */
  readonly #out: number
  readonly #base: number
  #coarsest = 0

  constructor(dimensions: number) {
    this.#length = Math.ceil(dimensions / STEP) * STEP
    this.#out = this.#length * Int16Array.BYTES_PER_ELEMENT
    this.#base = this.#out + 2 * SLICE_ROWS * Float32Array.BYTES_PER_ELEMENT
    growTo(this.#kernel.memory, this.#base)
  }

  grow(rows: number): void {
    growTo(this.#kernel.memory, this.#place(2 * rows))
  }

  set(slot: number, vectors: readonly [Float32Array, Float32Array]): void {
    const { buffer } = this.#kernel.memory
    for (const [column, vector] of vectors.entries()) {
      const place = this.#place(2 * slot + column)
      const worth = round(vector, new Int8Array(buffer, place, this.#length))
      new Float32Array(buffer, place + this.#length, 1)[0] = worth
      this.#coarsest = Math.max(this.#coarsest, worth)
    }
  }

  /**
   * The cosine of each vector of at most SLICE_ROWS rows with the nearest query, two a row: to be read
   * before the next ones are made.
   */
  cosines(slots: Int32Array, queries: readonly Float32Array[]): Float32Array {
    const cosines = new Float32Array(this.#kernel.memory.buffer, this.#out, 2 * slots.length)
    cosines.fill(-1)
    for (const query of queries) this.#raise(slots, this.#ask(query))
    return cosines
  }

  /** How far rounding can have moved two cosines apart: its errors are spread evenly over a step. */
  blur(queries: readonly Float32Array[]): number {
    const coarsest = Math.max(...queries.map((query) => this.#ask(query)))
    return (2 * DEVIATIONS * (this.#coarsest + coarsest)) / Math.sqrt(12)
  }

  /** Each run of neighbours is compared at one go. */
  #raise(slots: Int32Array, worth: number): void {
    for (let start = 0; start < slots.length; ) {
      const first = slots[start] ?? 0
      let end = start + 1
      while (slots[end] === first + end - start) end += 1
      const out = this.#out + 2 * start * Float32Array.BYTES_PER_ELEMENT
      this.#kernel.raise(this.#place(2 * first), 2 * (end - start), 0, worth, out, this.#length)
      start = end
    }
  }

  #ask(query: Float32Array): number {
    return round(query, new Int16Array(this.#kernel.memory.buffer, 0, this.#length))
  }

  #place(vector: number): number {
    return this.#base + vector * (this.#length + WORTH_BYTES)
  }
}

/** Writes a vector in whole numbers of -127 to 127 and returns what one of them is worth. */
function round(vector: Float32Array, to: Int8Array | Int16Array): number {
  let largest = 0
  for (let at = 0; at < vector.length; at += 1) {
    largest = Math.max(largest, Math.abs(vector[at] ?? 0))
  }
  const factor = 127 / (largest || 1)
  to.fill(0, vector.length)
  for (let at = 0; at < vector.length; at += 1) to[at] = Math.round((vector[at] ?? 0) * factor)
  return 1 / factor
}
