import { createPace, type Pace } from '../../pace.ts'
import { RoundedVectors, SLICE_ROWS } from './rounded-vectors.ts'
import { grown, LabelColumns, type RowLabels, type ScanFilter } from './row-labels.ts'
import { TopRows } from './top-rows.ts'

export type ScanRow = RowLabels & { symptom: Float32Array; fix: Float32Array }

/** Ids, by each of a row's vectors. */
export type Nearest = { symptom: number[]; fix: number[] }

/** How many more than were asked for are found, for their exact vectors to decide. */
const SPARE = 32
/** Where rounding leaves more undecided: what is as alike as so many is as good as any of them. */
const MOST_SPARE = 256

/**
 * All vectors of a store in memory, rounded, compared one by one. What is found is a little more than
 * was asked for, for the caller to order by the exact vectors. 100,000 rows of 384 components take
 * 80 MB.
 */
export class VectorScan {
  readonly #vectors: RoundedVectors
  readonly #labels = new LabelColumns()
  readonly #slots = new Map<number, number>()
  readonly #free: number[] = []
  #ids = new Float64Array(0)
  #capacity = 0
  #used = 0

  constructor(dimensions: number) {
    this.#vectors = new RoundedVectors(dimensions)
  }

  get size(): number {
    return this.#slots.size
  }

  /** Makes room for so many rows at once: each time that it grows holds up other work. */
  reserve(rows: number): void {
    if (rows > this.#capacity) this.#grow(rows)
  }

  set(id: number, row: ScanRow): void {
    const slot = this.#slots.get(id) ?? this.#free.pop() ?? this.#newSlot()
    this.#slots.set(id, slot)
    this.#ids[slot] = id
    this.#vectors.set(slot, [row.symptom, row.fix])
    this.#labels.set(slot, row)
  }

  delete(id: number): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    this.#slots.delete(id)
    this.#labels.clear(slot)
    this.#free.push(slot)
  }

  clear(): void {
    for (const id of [...this.#slots.keys()]) this.delete(id)
  }

  /** Whether the row of an id is live and fits. */
  matcher(filter: ScanFilter): (id: number) => boolean {
    const fits = this.#labels.matcher(filter)
    return (id) => {
      const slot = this.#slots.get(id)
      return slot !== undefined && fits(slot)
    }
  }

  /** How many live rows fit. */
  count(filter: ScanFilter): number {
    const fits = this.#labels.matcher(filter)
    let count = 0
    for (let slot = 0; slot < this.#used; slot += 1) if (fits(slot)) count += 1
    return count
  }

  /**
   * The `limit` rows nearest to any of the queries, by each of the two vectors, among the live ones
   * that fit, and some more. Rows that change meanwhile may be seen as they were.
   */
  async nearest(
    queries: readonly Float32Array[],
    filter: ScanFilter,
    limit: number,
    pace: Pace = createPace(),
  ): Promise<Nearest> {
    const fits = this.#labels.matcher(filter)
    const best = (size: number) => this.#best(queries, fits, size, pace)
    const blur = this.#vectors.blur(queries)
    // Who is left out has to be further behind than rounding can have put it.
    const isDecided = (rows: TopRows) => {
      const last = rows.sorted()[limit - 1]?.score ?? Number.POSITIVE_INFINITY
      return rows.floor < last - blur
    }
    let found = await best(limit + SPARE)
    if (!found.every(isDecided)) found = await best(limit + MOST_SPARE)
    const [symptom, fix] = found
    return { symptom: this.#idsOf(symptom), fix: this.#idsOf(fix) }
  }

  async #best(
    queries: readonly Float32Array[],
    fits: (slot: number) => boolean,
    size: number,
    pace: Pace,
  ): Promise<[TopRows, TopRows]> {
    const symptom = new TopRows(size)
    const fix = new TopRows(size)
    const slots = new Int32Array(SLICE_ROWS)
    for (let next = 0; next < this.#used; ) {
      let count = 0
      for (; next < this.#used && count < SLICE_ROWS; next += 1) {
        if (fits(next)) slots[count++] = next
      }
      const cosines = this.#vectors.cosines(slots.subarray(0, count), queries)
      for (const [column, best] of [symptom, fix].entries()) {
        takeBest(best, slots.subarray(0, count), cosines, column)
      }
      if (pace.isDue) await pace.breathe()
    }
    return [symptom, fix]
  }

  #idsOf(best: TopRows): number[] {
    return best.sorted().map(({ row }) => this.#ids[row] ?? 0)
  }

  #newSlot(): number {
    if (this.#used === this.#capacity) this.#grow(Math.max(1_024, 2 * this.#capacity))
    this.#used += 1
    return this.#used - 1
  }

  #grow(capacity: number): void {
    this.#ids = grown(this.#ids, new Float64Array(capacity))
    this.#vectors.grow(capacity)
    this.#labels.grow(capacity)
    this.#capacity = capacity
  }
}

/** Of two cosines a row, `column` says which. */
function takeBest(best: TopRows, slots: Int32Array, cosines: Float32Array, column: number): void {
  // Kept here: nearly all are below it, and asking for it takes longer than comparing.
  let floor = best.floor
  for (let at = 0; at < slots.length; at += 1) {
    const cosine = cosines[2 * at + column] ?? 0
    if (cosine <= floor) continue
    best.add(slots[at] ?? 0, cosine)
    floor = best.floor
  }
}
