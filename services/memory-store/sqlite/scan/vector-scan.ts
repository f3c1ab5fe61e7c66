import { setImmediate as breathe } from 'node:timers/promises'
import { createKernel, growTo, type Kernel } from './kernel.ts'
import { TopRows } from './top-rows.ts'

/** What a row of the store can be told apart by, beside its vectors. */
export type ScanRow = {
  symptom: Float32Array
  fix: Float32Array
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

export type Nearest = { symptom: number[]; fix: number[] }

/** Rows whose scores are made at one go: about a millisecond. */
const SLICE_ROWS = 8_192
const SLICES_BEFORE_BREATH = 4

/**
 * All vectors of a store in memory, 8 bits a component, two a row (symptom, fix), compared one by
 * one. Rounding moves a cosine by less than 0.01: what is found is a little more than was asked for,
 * for the caller to order by the exact vectors. 100,000 rows of 384 components take 77 MB.
 */
export class VectorScan {
  readonly #kernel: Kernel = createKernel()
  readonly #dimensions: number
  /** Bytes of a vector: whole steps of 16. */
  readonly #stride: number
  readonly #out: number
  readonly #base: number
  readonly #slots = new Map<number, number>()
  readonly #free: number[] = []
  readonly #names = new Map<string, number>()
  #capacity = 0
  #used = 0
  #ids = new Float64Array(0)
  /** What a component of a row's vector is worth, two a row. */
  #scales = new Float32Array(0)
  #live = new Uint8Array(0)
  /** Of error key, repository and group, by number, three a row. */
  #labels = new Int32Array(0)
  #confirmed = new Float64Array(0)

  constructor(dimensions: number) {
    this.#dimensions = dimensions
    this.#stride = Math.ceil(dimensions / 16) * 16
    this.#out = this.#stride
    this.#base = this.#out + 2 * SLICE_ROWS * 4
    growTo(this.#kernel.memory, this.#base)
  }

  get size(): number {
    return this.#slots.size
  }

  set(id: number, row: ScanRow): void {
    const slot = this.#slots.get(id) ?? this.#free.pop() ?? this.#newSlot()
    this.#slots.set(id, slot)
    this.#ids[slot] = id
    this.#scales[2 * slot] = this.#write(this.#place(2 * slot), row.symptom)
    this.#scales[2 * slot + 1] = this.#write(this.#place(2 * slot + 1), row.fix)
    this.#live[slot] = row.live ? 1 : 0
    this.#labels.set(
      [row.errorKey, row.repository, row.group].map((name) => this.#label(name)),
      3 * slot,
    )
    this.#confirmed[slot] = row.confirmedMs
  }

  delete(id: number): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    this.#slots.delete(id)
    this.#live[slot] = 0
    this.#free.push(slot)
  }

  clear(): void {
    for (const id of [...this.#slots.keys()]) this.delete(id)
  }

  /**
   * The ids of the `limit` rows nearest to any of the queries, by each of the two vectors, among the
   * live ones that fit. Other work gets its turn every few milliseconds; rows that change meanwhile
   * may be seen as they were.
   */
  async nearest(
    queries: readonly Float32Array[],
    filter: ScanFilter,
    limit: number,
  ): Promise<Nearest> {
    const accepts = this.#acceptor(filter)
    const top = [new TopRows(limit), new TopRows(limit)] as const
    const used = this.#used
    for (let from = 0, slice = 1; from < used; from += SLICE_ROWS, slice += 1) {
      const scores = this.#scoresOf(from, Math.min(SLICE_ROWS, used - from), queries)
      for (const [column, best] of top.entries()) takeBest(best, scores, column, from, accepts)
      if (slice % SLICES_BEFORE_BREATH === 0) await breathe()
    }
    const [symptom, fix] = top.map((best) => best.rows().map((slot) => this.#ids[slot] ?? 0))
    return { symptom: symptom ?? [], fix: fix ?? [] }
  }

  /** The cosine of each vector of a slice with the nearest query, two a row. */
  #scoresOf(from: number, count: number, queries: readonly Float32Array[]): Float32Array {
    const scores = new Float32Array(2 * count).fill(-1)
    for (const query of queries) {
      const worth = this.#write(0, query)
      this.#kernel.scan(this.#place(2 * from), 2 * count, 0, this.#out, this.#stride)
      const dots = new Int32Array(this.#kernel.memory.buffer, this.#out, 2 * count)
      for (let index = 0; index < dots.length; index += 1) {
        const cosine = (dots[index] ?? 0) * (this.#scales[2 * from + index] ?? 0) * worth
        if (cosine > (scores[index] ?? 0)) scores[index] = cosine
      }
    }
    return scores
  }

  #acceptor({ errorKey, repository, group, notBeforeMs }: ScanFilter): (slot: number) => boolean {
    const wanted = [errorKey, repository, group].map((name) =>
      name === null ? null : (this.#names.get(name) ?? -1),
    )
    return (slot) =>
      this.#live[slot] === 1 &&
      wanted.every((label, index) => label === null || this.#labels[3 * slot + index] === label) &&
      (notBeforeMs === null || (this.#confirmed[slot] ?? 0) >= notBeforeMs)
  }

  #place(vector: number): number {
    return this.#base + vector * this.#stride
  }

  /** Writes a vector in whole numbers of -127 to 127 and returns what one of them is worth. */
  #write(place: number, vector: Float32Array): number {
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1
    const factor = 127 / largest
    const bytes = new Int8Array(this.#kernel.memory.buffer, place, this.#stride)
    bytes.fill(0, this.#dimensions)
    for (let index = 0; index < this.#dimensions; index += 1) {
      bytes[index] = Math.round((vector[index] ?? 0) * factor)
    }
    return 1 / factor
  }

  #label(name: string): number {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    this.#names.set(name, this.#names.size)
    return this.#names.size - 1
  }

  #newSlot(): number {
    if (this.#used === this.#capacity) this.#grow(Math.max(1_024, 2 * this.#capacity))
    this.#used += 1
    return this.#used - 1
  }

  #grow(capacity: number): void {
    growTo(this.#kernel.memory, this.#place(2 * capacity))
    this.#ids = grown(this.#ids, new Float64Array(capacity))
    this.#scales = grown(this.#scales, new Float32Array(2 * capacity))
    this.#live = grown(this.#live, new Uint8Array(capacity))
    this.#labels = grown(this.#labels, new Int32Array(3 * capacity))
    this.#confirmed = grown(this.#confirmed, new Float64Array(capacity))
    this.#capacity = capacity
  }
}

/** `scores` has two a row; `column` says which. */
function takeBest(
  best: TopRows,
  scores: Float32Array,
  column: number,
  from: number,
  accepts: (slot: number) => boolean,
): void {
  for (let index = column; index < scores.length; index += 2) {
    const score = scores[index] ?? 0
    const slot = from + (index >> 1)
    if (score > best.floor && accepts(slot)) best.add(slot, score)
  }
}

function grown<T extends Float64Array | Float32Array | Uint8Array | Int32Array>(
  old: T,
  next: T,
): T {
  next.set(old)
  return next
}
