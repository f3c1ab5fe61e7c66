import { createKernel, growTo, type Kernel } from './kernel.ts'
import { grown } from './row-labels.ts'

/** Rows whose cosines are made at one go: about a millisecond for two queries. */
export const SLICE_ROWS = 8_192
/** Standard deviations that rounding is taken to move a cosine by: beyond that, once in millions. */
const DEVIATIONS = 5

/** Two vectors a row, 8 bits a component, by the row's place. */
export class RoundedVectors {
  readonly #kernel: Kernel = createKernel()
  readonly #dimensions: number
  /** Bytes of a vector: whole steps of 16. */
  readonly #stride: number
  /** The query stands at the beginning, the products behind it, then the rows. */
  readonly #out: number
  readonly #base: number
  /** What a component of a row's vector is worth, two a row. */
  #scales = new Float32Array(0)
  #coarsest = 0

  constructor(dimensions: number) {
    this.#dimensions = dimensions
    this.#stride = Math.ceil(dimensions / 16) * 16
    this.#out = this.#stride
    this.#base = this.#out + 2 * SLICE_ROWS * 4
    growTo(this.#kernel.memory, this.#base)
  }

  grow(rows: number): void {
    growTo(this.#kernel.memory, this.#place(2 * rows))
    this.#scales = grown(this.#scales, new Float32Array(2 * rows))
  }

  set(slot: number, vectors: readonly [Float32Array, Float32Array]): void {
    for (const [column, vector] of vectors.entries()) {
      const scale = this.#write(this.#place(2 * slot + column), vector)
      this.#scales[2 * slot + column] = scale
      this.#coarsest = Math.max(this.#coarsest, scale)
    }
  }

  /** The cosine of each vector of at most SLICE_ROWS rows with the nearest query, two a row. */
  cosines(slots: Int32Array, queries: readonly Float32Array[]): Float32Array {
    const cosines = new Float32Array(2 * slots.length).fill(-1)
    for (const query of queries) {
      const worth = this.#write(0, query)
      this.#multiply(slots)
      const dots = new Int32Array(this.#kernel.memory.buffer, this.#out, cosines.length)
      for (let at = 0; at < cosines.length; at += 1) {
        const vector = 2 * (slots[at >> 1] ?? 0) + (at & 1)
        const cosine = (dots[at] ?? 0) * (this.#scales[vector] ?? 0) * worth
        if (cosine > (cosines[at] ?? 0)) cosines[at] = cosine
      }
    }
    return cosines
  }

  /** How far rounding can have moved two cosines apart: its errors are spread evenly over a step. */
  blur(queries: readonly Float32Array[]): number {
    const coarsest = Math.max(...queries.map((query) => this.#write(0, query)))
    return (2 * DEVIATIONS * (this.#coarsest + coarsest)) / Math.sqrt(12)
  }

  /** The products of these rows' vectors and the written query, each run of neighbours at one go. */
  #multiply(slots: Int32Array): void {
    for (let start = 0; start < slots.length; ) {
      const first = slots[start] ?? 0
      let end = start + 1
      while (slots[end] === first + end - start) end += 1
      const [from, out] = [this.#place(2 * first), this.#out + 8 * start]
      this.#kernel.scan(from, 2 * (end - start), 0, out, this.#stride)
      start = end
    }
  }

  #place(vector: number): number {
    return this.#base + vector * this.#stride
  }

  /** Writes a vector in whole numbers of -127 to 127 and returns what one of them is worth. */
  #write(place: number, vector: Float32Array): number {
    let largest = 0
    for (let at = 0; at < vector.length; at += 1) {
      largest = Math.max(largest, Math.abs(vector[at] ?? 0))
    }
    const factor = 127 / (largest || 1)
    const bytes = new Int8Array(this.#kernel.memory.buffer, place, this.#stride)
    bytes.fill(0, this.#dimensions)
    for (let at = 0; at < this.#dimensions; at += 1) {
      bytes[at] = Math.round((vector[at] ?? 0) * factor)
    }
    return 1 / factor
  }
}
